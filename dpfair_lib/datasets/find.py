"""Finding and downloading the files of a data set; only verified files are used or stored."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpfair_lib._extras import MissingExtraError, extra
from dpfair_lib._files import scratch_folder
from dpfair_lib._progress import Progress
from dpfair_lib.datasets import copies
from dpfair_lib.datasets.canonical_table import DataError, read_bytes, read_layout, wrong
from dpfair_lib.datasets.pins import Pins, verify
from dpfair_lib.datasets.spec import File, Layout, Spec

VARIABLE = "DPFAIR_DATA"
_TIMEOUT = (10, 60)  # seconds until somebody answers at all, and without another piece of the file


@dataclass(frozen=True)
class Found:
    """A folder that has a complete set of files, and what kind of place it is."""

    kind: str
    folder: Path
    layout: Layout
    verified: bool  # whether the checksum of such a table is recorded

    @property
    def where(self) -> str:
        """The files, with their folder."""
        if len(self.layout) > 3:
            return f"{self.folder}: {_short(self.layout)}"
        return " + ".join(str(self.folder / file.name) for file in self.layout)


def default_cache() -> Path:
    """Return the folder for downloads, the user's cache (the same as `pooch.os_cache` names)."""
    with extra("files"):
        from platformdirs import user_cache_path

    return user_cache_path("dpfair_lib")


def places(spec: Spec, *, root: str | Path | None, cache: Path | None) -> Iterator[tuple[str, Path]]:
    """Name the folders in which a data set is looked for, in order.

    Parameters
    ----------
    spec : Spec
        The data set.
    root : str, Path or None
        The caller's own folder.
    cache : Path or None
        The folder of downloads, the user's cache by default.

    Yields
    ------
    kind : str
        ``"root"``, ``"$DPFAIR_DATA"`` or ``"cache"``.
    folder : Path
        The folder, which need not exist.

    Raises
    ------
    FileNotFoundError
        If ``root`` or ``$DPFAIR_DATA`` is given but is no folder: looking elsewhere would hide a typing error.
    """
    if root is not None:
        folder = _existing("root", root)
        yield from (("root", folder / name) for name in spec.places)
        yield "root", folder
    if named := os.environ.get(VARIABLE):
        folder = _existing(f"${VARIABLE}", named)
        yield from ((f"${VARIABLE}", folder / name) for name in spec.places)
    yield "cache", (cache or default_cache()) / spec.name


def find(spec: Spec, *, root: str | Path | None = None, cache: Path | None = None) -> Found | None:
    """Find the first folder that has the files; their content is not looked at.

    Parameters
    ----------
    spec : Spec
        The data set.
    root : str, Path or None
        The caller's own folder.
    cache : Path or None
        The folder of downloads, the user's cache by default.

    Returns
    -------
    Found or None
        The place, or None if no folder has any of the files.

    Raises
    ------
    FileNotFoundError
        If ``root`` or ``$DPFAIR_DATA`` is no folder, or if a folder has only a part of the files.
    """
    for kind, folder in places(spec, root=root, cache=cache):
        partly: tuple[list[str], list[str]] | None = None
        for layout in (*spec.layouts, *spec.unpinned):
            have = [file.name for file in layout if (folder / file.name).is_file()]
            if len(have) == len(layout):
                return Found(kind, folder, layout, verified=layout in spec.layouts)
            if have:
                partly = have, [file.name for file in layout if file.name not in have]
        if partly:
            raise FileNotFoundError(
                f"{spec.name}: {folder} has {', '.join(partly[0])} but not {', '.join(partly[1])}; "
                f"put all there, or remove what is there to have it looked for elsewhere. {_remedy(spec)}"
            )
    return None


def obtain(
    spec: Spec,
    pins: Pins,
    *,
    root: str | Path | None = None,
    download: bool = True,
    cache: Path | None = None,
) -> tuple[pd.DataFrame, Found]:
    """Find or download a data set, read it and verify it.

    Parameters
    ----------
    spec : Spec
        The data set.
    pins : Pins
        Its checksums.
    root : str, Path or None
        The caller's own folder.
    download : bool
        Whether the publisher may be asked when the files are nowhere.
    cache : Path or None
        The folder of downloads, the user's cache by default.

    Returns
    -------
    table : DataFrame
        The canonical table, verified.
    found : Found
        Where it came from.

    Raises
    ------
    FileNotFoundError
        If the files are nowhere, or only partly there, and could not be downloaded.
    DataError
        If a file is there and its content is wrong; it is not passed over.
    """
    found = find(spec, root=root, cache=cache)
    if found is None:
        cache = cache or default_cache()
        if not download:
            raise FileNotFoundError(_absent(spec, root, cache) + _remedy(spec, cache))
        return fetch(spec, pins, root=root, cache=cache)
    try:
        table = _read(spec, pins, found, cache)
    except DataError as error:
        raise DataError(f"{error} ({_sources(spec)})") from error
    if not found.verified:
        unverified = "no checksum is recorded for this form, so nothing says that the table is the right one"
        warnings.warn(
            f"{spec.name}: {found.where}: {unverified}; {len(table):,} rows were read", stacklevel=4
        )
    return table, found


def _read(spec: Spec, pins: Pins, found: Found, cache: Path | None) -> pd.DataFrame:
    """Return a table, verified if it can be: from the copy of a large one, or from the files, which are copied then."""
    made_from: dict[str, str] | None = None
    if found.verified and pins.rows >= copies.LARGE:
        try:
            cache = cache or default_cache()
        except MissingExtraError:
            cache = None
        if cache is not None:
            made_from = copies.checksums(found.layout, found.folder)
            if (copied := copies.take(spec, pins, made_from, cache)) is not None:
                return copied
    table = read_layout(spec, found.layout, found.folder)
    if found.verified:
        verify(spec, table, pins, found.where)
    # a file that changed meanwhile is none of those that were read
    if (
        cache is not None
        and made_from is not None
        and made_from == copies.checksums(found.layout, found.folder)
    ):
        copies.keep(spec, table, made_from, cache)
    return table


def fetch(
    spec: Spec, pins: Pins, *, cache: Path, root: str | Path | None = None
) -> tuple[pd.DataFrame, Found]:
    """Download a data set from its publisher, verify it, and only then move it into the cache.

    Parameters
    ----------
    spec : Spec
        The data set.
    pins : Pins
        Its checksums.
    cache : Path
        The folder of downloads; made if it is not there.
    root : str, Path or None
        Where was looked before, for the error message.

    Returns
    -------
    table : DataFrame
        The canonical table, verified.
    found : Found
        The folder in the cache.

    Raises
    ------
    FileNotFoundError
        If the publisher cannot be reached, does not have the file, or offers no direct download.
    DataError
        If what came is not the data set; the cache is then as it was before.
    """
    layout = spec.layouts[0]
    absent = _absent(spec, root, cache)
    with ExitStack() as stack:
        try:
            cache.mkdir(parents=True, exist_ok=True)
            # In the cache itself, so that the move at the end stays within one file system and is atomic.
            staging = stack.enter_context(scratch_folder(cache, spec.name)) / spec.name
            staging.mkdir()
        except OSError as error:
            raise FileNotFoundError(
                f"{absent}The cache cannot be written ({error}). {_remedy(spec, cache)}"
            ) from error
        for file in layout:
            try:
                _download(file, staging / file.name)
            except OSError as error:
                why = f"Downloading failed ({error}). "
                raise FileNotFoundError(absent + why + _remedy(spec, cache)) from error
            _hold_against(staging / file.name, file, pins)
        table = read_layout(spec, layout, staging)
        verify(spec, table, pins, " + ".join(file.url or file.name for file in layout))
        _move(staging, cache / spec.name)
    return table, Found("download", cache / spec.name, layout, verified=True)


def _download(file: File, target: Path) -> None:
    if file.url is None:
        raise OSError(f"the publisher offers no direct download of {file.name}")
    with extra("files"):
        import pooch

    # requests' errors are OSErrors: refused, not found, broken off, timed out
    counted = _Bytes(f"bytes of {file.name}")
    pooch.HTTPDownloader(timeout=_TIMEOUT, progressbar=counted)(file.url, str(target), None)


class _Bytes(Progress):
    """Counts the bytes of a download. Pooch uses it like a progress bar, and sets ``total`` to the length if known.

    Each piece counts whole, though the last may be shorter, and a publisher may send them compressed.
    """

    def update(self, size: int) -> None:
        """Count a piece, up to the whole length."""
        self.total = self.total or None  # 0 where the publisher does not say
        if size:
            self.add(size if self.total is None else min(size, self.total - self.done))

    def reset(self) -> None:
        """Begin again: at the end pooch counts the whole length."""
        self.done = 0

    def close(self) -> None:
        """Do nothing, as there is no bar to close."""


def _hold_against(path: Path, file: File, pins: Pins) -> None:
    """Compare a downloaded file with its pinned checksum, if there is one, before anything parses it."""
    found, pinned = hashlib.sha256(read_bytes(path)).hexdigest(), pins.files.get(file.name)
    if pinned is not None and found != pinned:
        raise wrong(
            str(file.url),
            expected=f"{file.name} with SHA-256 {pinned}",
            found=f"{path.stat().st_size:,} bytes with SHA-256 {found}",
            remedy="nothing was kept; try again, or put the file where it is looked for by hand",
        )


def _move(staging: Path, target: Path) -> None:
    try:
        staging.rename(target)
    except OSError:  # there is such a folder with files in it: another process was faster, or someone's notes
        for path in staging.iterdir():
            path.replace(target / path.name)


def _existing(what: str, folder: str | Path) -> Path:
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise FileNotFoundError(f"{what}: expected a folder with data sets, found no folder {str(folder)!r}")
    return path


def _absent(spec: Spec, root: str | Path | None, cache: Path) -> str:
    looked = [f"{folder} ({kind})" for kind, folder in places(spec, root=root, cache=cache)]
    forms = " or ".join(_short(layout) for layout in (*spec.layouts, *spec.unpinned))
    return f"{spec.name}: found no {forms} in {', '.join(looked)}. "


def _sources(spec: Spec) -> str:
    if spec.unpinned:  # then the form that is pinned is not the publisher's
        return f"{_short(spec.unpinned[0])} from {spec.homepage}"
    return ", ".join(f"{file.name} from {file.url or spec.homepage}" for file in spec.layouts[0])


def _short(layout: Layout) -> str:
    names = [file.name for file in layout]
    return (
        " + ".join(names)
        if len(names) < 4
        else f"{names[0]} + {names[1]} + … + {names[-1]} ({len(names)} files)"
    )


def _remedy(spec: Spec, cache: Path | None = None) -> str:
    put = f" into {cache / spec.name}, or" if cache else ""
    return (
        f"Get {_sources(spec)} and put it{put} into a folder {spec.name}/ inside the folder that the environment "
        f"variable {VARIABLE} names ({os.environ.get(VARIABLE) or 'not set'}) or that is given as root."
    )

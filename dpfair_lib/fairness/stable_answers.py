"""Answers that stay: a keyed hash of a person's identifier in place of a random draw."""

from __future__ import annotations

import hmac
import math
import secrets
from typing import Any, NoReturn

import numpy as np

from dpfair_lib._arrays import host_array

LEAST_KEY = 16  # bytes
DIGITS = 53  # of the numbers, as many as a float in [½, 1) holds


class PersonalDraws:
    """One number in [0, 1) for each row, for `predict` in place of a random state; made by `StableAnswers.of`."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: np.ndarray) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def numbers(self, rows: int) -> np.ndarray:
        """Return the numbers, if there is one for each row.

        Parameters
        ----------
        rows : int
            How many are wanted.

        Returns
        -------
        ndarray of shape (rows,)
            Multiples of 2⁻⁵³ in [0, 1).

        Raises
        ------
        ValueError
            If there are more or fewer rows than identifiers.
        """
        if len(self) != rows:
            raise ValueError(
                f"random_state: found draws of {len(self)} identifiers for {rows} rows, expected one for each row"
            )
        return self._numbers


class StableAnswers:
    """Give the same person the same answer of a randomised classifier, at every call and in every process.

    A keyed hash (HMAC-SHA-256) of a person's identifier takes the place of the random draw. Asking again tells
    nothing new, and nobody can ask until the answer is the wanted one. The key does not depend on any data, so the
    answers are post-processing, and privacy statements stand unchanged, even if the key becomes known. But with the
    key everyone's draw can be computed beforehand. Give each kind of decision a key or a purpose of its own:
    otherwise a person who is unlucky once is unlucky in all of them.

    The key is shown nowhere. An object of this class cannot be pickled or copied, because the key would go with it. A
    fitted estimator does not contain it, and can be stored as usual. A service of several processes, or one that is
    started again, reads the key from where it keeps its secrets, and passes it as ``key``.

    Parameters
    ----------
    key : bytes, optional
        The secret, at least 16 random bytes. None draws 32 bytes from the operating system; the answers then last as
        long as this object.
    purpose : str
        What the answers are for. Another purpose gives independent answers with the same key.

    Raises
    ------
    ValueError
        If the key is not of bytes or is too short, or the purpose is no string.

    Notes
    -----
    A row gets the label 1 if its number is below its probability p. The number is a multiple of 2⁻⁵³, so the chance
    is the next multiple at or above p: it is never smaller than p, and larger by less than 2⁻⁵³. It is exact for p of
    at least ½, and for 0. This treats the hash as random, which is the standard assumption on HMAC-SHA-256.

    Identifiers are compared as Python compares them: 1, 1.0 and True are one, 1 and "1" are two. Take what a person
    cannot change, such as a customer number. If a person can choose the identifier, or some digit of it, each choice is
    a new draw. If a whole record serves as the identifier, round its numbers first; everyone with the same record then
    gets the same draw, and the rates of the groups vary more.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> y_pred, group = [1, 1, 1, 0, 1, 0, 0, 0], list("aaaabbbb")
    >>> fair = dpf.FairPostprocessor().fit(y_pred, sensitive_features=group)
    >>> answers = dpf.StableAnswers()  # in a service: StableAnswers(key), the key from where secrets are kept
    >>> people = answers.of([f"customer {number}" for number in range(8)])
    >>> first, second = (fair.predict(y_pred, sensitive_features=group, random_state=people) for _ in range(2))
    >>> bool((first == second).all())
    True
    """

    __slots__ = ("_key", "purpose")

    def __init__(self, key: bytes | None = None, *, purpose: str = "") -> None:
        # what is wrong with a key is said without showing it
        if key is not None and not isinstance(key, bytes):
            raise ValueError(f"key: found a value of the type {type(key).__name__}, expected bytes, or None")
        if key is not None and len(key) < LEAST_KEY:
            raise ValueError(f"key: found {len(key)} bytes, expected at least {LEAST_KEY} random bytes")
        if not isinstance(purpose, str):
            raise ValueError(f"purpose: found {purpose!r}, expected a string")
        self._key = secrets.token_bytes(32) if key is None else key
        self.purpose = purpose

    def of(self, identifiers: Any) -> PersonalDraws:
        """Return the draws of some people, for the ``random_state`` of `predict`.

        Parameters
        ----------
        identifiers : array of shape (n,), or table of shape (n, k)
            One identifier for each row: a number, a string or bytes; or several columns that identify together. Their
            order counts, their names do not.

        Returns
        -------
        PersonalDraws
            One number in [0, 1) for each row. Rows with equal identifiers have equal numbers.

        Raises
        ------
        ValueError
            If there is no row or no column, or if an entry is missing, infinite or of another type.
        """
        start, rows = _framed(b"p", self.purpose.encode("utf-8", "surrogatepass")), _rows(identifiers)
        drawn: dict[tuple[Any, ...], bytes] = {}
        for row in rows:
            if row not in drawn:
                message = start + b"".join(map(_encoded, row))
                drawn[row] = hmac.digest(self._key, message, "sha256")[:8]
        words = np.frombuffer(b"".join([drawn[row] for row in rows]), dtype=">u8")
        return PersonalDraws((words >> np.uint64(64 - DIGITS)) / 2.0**DIGITS)

    def __repr__(self) -> str:
        return f"StableAnswers(key=<not shown>, purpose={self.purpose!r})"

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError(
            "StableAnswers: found an attempt to pickle or copy it, expected none: its key would go with it; make "
            "another one with the same key"
        )


def _rows(identifiers: Any) -> list[tuple[Any, ...]]:
    """Return the entries of each row."""
    given = host_array(identifiers, "identifiers")
    if hasattr(given, "columns"):
        # column by column: the array of a mixed table would turn numbers of one type into another
        columns = [_listed(given.iloc[:, at]) for at in range(given.shape[1])]
    else:
        array = given if hasattr(given, "dtype") else _array(given)
        if getattr(array, "ndim", 1) not in (1, 2):
            raise ValueError(f"identifiers: found shape {array.shape}, expected one or two dimensions")
        columns = [_listed(array)] if array.ndim == 1 else [_listed(column) for column in array.T]
    if not columns or not columns[0]:
        raise ValueError("identifiers: found none, expected one for each row")
    kinds = {type(entry) for column in columns for entry in column}
    if strange := sorted(kind.__name__ for kind in kinds - {str, bytes, int, float, bool}):
        raise ValueError(
            f"identifiers: found values of the type {strange[0]}, expected numbers, strings or bytes"
        )
    return list(zip(*columns, strict=True))


def _array(rows: Any) -> np.ndarray:
    # as objects: numpy would turn a list of 1 and "1" into two equal strings
    try:
        array = np.array(rows, dtype=object)
    except ValueError:
        raise ValueError("identifiers: found rows of different lengths, expected one length") from None
    if array.ndim == 0:
        raise ValueError("identifiers: found a single value, expected one for each row")
    return array


def _listed(column: Any) -> list[Any]:
    if getattr(column.dtype, "kind", "O") in "mM":  # some of them would be listed as whole numbers
        raise ValueError("identifiers: found dates or durations, expected numbers, strings or bytes")
    return [entry.item() if isinstance(entry, np.generic) else entry for entry in column.tolist()]


def _encoded(entry: Any) -> bytes:
    """Return an identifier as bytes with its type and length; equal numbers of any type are encoded alike."""
    if isinstance(entry, str):
        return _framed(b"s", entry.encode("utf-8", "surrogatepass"))
    if isinstance(entry, bytes):
        return _framed(b"b", entry)
    if isinstance(entry, float) and not math.isfinite(entry):
        raise ValueError(f"identifiers: found {entry}, expected finite numbers, none of them missing")
    if isinstance(entry, float) and not entry.is_integer():
        return _framed(b"f", entry.hex().encode())
    return _framed(b"i", b"%x" % int(entry))  # True and False too


def _framed(kind: bytes, value: bytes) -> bytes:
    return kind + b"%d:" % len(value) + value

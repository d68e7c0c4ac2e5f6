"""A small package, whose imports take every form, and what one of its modules reaches."""

from dpfair_lib.experiments.reach import reached_files

SMALL = {
    "__init__.py": "import lazy_loader",
    "__init__.pyi": "from .far import distance as distance",
    "start.py": (
        "'''Words.'''\nfrom lib.near import area\n"
        "def run():\n    '''More.'''\n    from lib.late import x\n    return 1"
    ),
    "near/__init__.py": "from lib.near.shapes import area\nfrom lib.near.other import unused",
    "near/shapes.py": "TABLE = 'sizes.toml'",
    "near/other.py": "",
    "near/sizes.toml": "a = 1",
    "near/apart.toml": "a = 1",
    "late.py": "from . import near2",
    "near2.py": "",
    "far.py": "",
    "claims/ledger.py": "",
}
REACHED = {"start.py", "near/shapes.py", "near/sizes.toml", "late.py", "near2.py"}


def library(folder, **changed):
    for name, text in {**SMALL, **changed}.items():
        path = folder / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    provenance_free_caches()
    return folder / "lib"


def provenance_free_caches():
    from dpfair_lib import _sources
    from dpfair_lib.experiments import reach

    for cached in (_sources.parsed, _sources.imports, reach._passed_on, reach.imports_of):
        cached.cache_clear()


def names(package, module="lib.start"):
    return {path.relative_to(package).as_posix() for path in reached_files([module], package)}

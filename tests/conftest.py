"""What holds for all tests; their own folder is where `extremes` is found."""

import os
import sys
import types
from math import prod
from pathlib import Path

import pytest
from _pytest.approx import ApproxScalar
from hypothesis import HealthCheck, settings

# the first example pays for an import, and machines are shared: time is no verdict here.
# with CI set the examples are the same each time, so that a change is judged, not luck; without, they are new ones
settings.register_profile(
    "no deadline", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("no deadline")
sys.path.insert(0, str(Path(__file__).parent))


class Absent(types.ModuleType):
    """A package that an environment goes without: a test that takes anything from it is skipped, and says so."""

    Tensor = type("Tensor", (), {})  # NumPy's relatives ask whether an array is one
    # sweeps give a torch that is there one thread; without it there is nothing to set
    get_num_threads = staticmethod(lambda: 1)
    set_num_threads = staticmethod(lambda _: None)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"without {self.__name__}", allow_module_level=True)


# 1e-12 is no tolerance for a δ, and none for a probability of 1e-9: where it is meant, it is written
EXACT_ROOMS = {
    "central", "compatibility", "fairness", "learners", "local", "margins", "postprocessing", "preparation", "privacy",
    "private", "svm",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_absolute_tolerance(request, monkeypatch):
    """pytest.approx without `abs` allows 1e-12 beside its relative tolerance; there, it allows nothing."""
    if EXACT_ROOMS & {*request.path.parts[len(Path(__file__).parts) - 1 :]}:
        monkeypatch.setattr(ApproxScalar, "DEFAULT_ABSOLUTE_TOLERANCE", 0)


# `make test-python` sets it where PyTorch would be the build of several GB; nothing else does
for package in os.environ.get("DPFAIR_TESTS_WITHOUT", "").split():
    sys.modules[package] = Absent(package)


@pytest.fixture
def travelled(monkeypatch):
    """The sizes of what went to the host from arrays of other namespaces; torch's own ways there are closed."""
    import torch

    from dpfair_lib._arrays import Space

    sizes, usual, tolist = [], Space.listed, getattr(torch.Tensor, "tolist", None)

    def listed(self, array):
        sizes.append(prod(array.shape))
        with monkeypatch.context() as within:
            within.setattr(torch.Tensor, "tolist", tolist, raising=False)
            return usual(self, array)

    def refused(*_, **__):
        raise AssertionError("rows were copied to the host")

    monkeypatch.setattr(Space, "listed", listed)
    for way in ("numpy", "cpu", "__array__", "tolist"):
        monkeypatch.setattr(torch.Tensor, way, refused, raising=False)
    return sizes

"""What holds for all tests; their own folder is where `extremes` is found."""

import os
import sys
import types
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# the first example pays for an import, and machines are shared: time is no verdict here
settings.register_profile("no deadline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no deadline")
sys.path.insert(0, str(Path(__file__).parent))


class Absent(types.ModuleType):
    """A package that an environment goes without: a test that takes anything from it is skipped, and says so."""

    Tensor = type("Tensor", (), {})  # NumPy's relatives ask whether an array is one

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"without {self.__name__}", allow_module_level=True)


# `make test-python` sets it where PyTorch would be the build of several GB; nothing else does
for package in os.environ.get("DPFAIR_TESTS_WITHOUT", "").split():
    sys.modules[package] = Absent(package)

"""What holds for all tests; their own folder is where `extremes` is found."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# the first example pays for an import, and machines are shared: time is no verdict here
settings.register_profile("no deadline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no deadline")
sys.path.insert(0, str(Path(__file__).parent))

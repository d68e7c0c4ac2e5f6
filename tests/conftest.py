"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# the first example pays for an import, and machines are shared: time is no verdict here
settings.register_profile("no deadline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no deadline")

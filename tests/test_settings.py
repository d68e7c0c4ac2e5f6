import re
from pathlib import Path

from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent


def test_no_example_has_a_deadline():
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


def test_the_deadline_is_set_in_one_place():
    told = re.compile(r"(settings|register_profile)\([^()]*deadline")
    found = {path for path in TESTS.rglob("*.py") if told.search(path.read_text(encoding="utf-8"))}
    assert found == {TESTS / "conftest.py"}

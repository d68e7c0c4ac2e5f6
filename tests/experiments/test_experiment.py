import functools
import inspect

import pytest

from dpfair_lib.datasets import synthetic
from dpfair_lib.experiments import __main__ as command
from dpfair_lib.experiments.mpbt import bounded_impact
from dpfair_lib.experiments.sources import Source, on_data


@pytest.fixture
def _stand_ins(monkeypatch):
    """Let every data set be a small stand-in: how an experiment is described does not depend on the rows."""
    monkeypatch.setattr(Source, "dataset", lambda self: synthetic(self.name, n=2000, random_state=0))
    bounded_impact.prepared.cache_clear()
    yield
    bounded_impact.prepared.cache_clear()


@pytest.mark.usefixtures("_stand_ins")
@pytest.mark.parametrize("name", command.EXPERIMENTS)
def test_every_task_is_a_call_with_keyword_arguments(name):
    experiment = command.EXPERIMENTS[name](name)
    assert experiment.name == name
    assert experiment.tasks
    for task in experiment.tasks:
        arguments = dict(task)
        if isinstance(experiment.function, functools.partial):
            assert experiment.function.func is on_data
            (function,) = experiment.function.args
            inspect.signature(function).bind(arguments.pop("source"), **arguments)
        else:
            inspect.signature(experiment.function).bind(**arguments)


def test_every_room_has_experiments_and_no_name_is_used_twice(monkeypatch):
    assert list(command.all_experiments()) == list(command.EXPERIMENTS)
    modules = {
        maker.__module__ if inspect.isfunction(maker) else maker.func.__module__
        for maker in command.EXPERIMENTS.values()
    }
    assert {module.split(".")[2] for module in modules} == set(command.ROOMS)
    from dpfair_lib.experiments.sk import private_svms

    monkeypatch.setattr(private_svms, "EXPERIMENTS", {"privacy-audits": private_svms.experiment})
    with pytest.raises(
        ValueError, match="private_svms: found the experiment 'privacy-audits', which another module"
    ):
        command.all_experiments()

"""What is said where a cluster is not as it should be; the workers themselves are in tests/accidents."""

import sys
import types

import pytest

from dpfair_lib.experiments import cluster


class Client:
    """A client of a scheduler with some workers; None is one that does not answer."""

    threads: dict | None = None

    def __init__(self, *_, **__):
        self.closed, self.scheduler = False, types.SimpleNamespace(address="tcp://here:1")

    def wait_for_workers(self, *_, **__):
        if not self.threads:
            raise TimeoutError

    def nthreads(self):
        if self.threads is None:
            raise OSError("no answer")
        return self.threads

    def close(self):
        self.closed = True


@pytest.fixture
def client(monkeypatch):
    made = Client()
    monkeypatch.setitem(sys.modules, "distributed", types.SimpleNamespace(Client=lambda *_, **__: made))
    return made


def test_a_worker_has_one_thread(client):
    client.threads = {"a": 1, "b": 1}
    assert cluster.connect("tcp://here:1") is client
    assert not client.closed
    client.threads = {"a": 1, "b": 2}
    with pytest.raises(ConnectionError, match="found 2 threads in the worker b, expected one"):
        cluster.connect("tcp://here:1")
    assert client.closed


def test_a_scheduler_without_a_worker_is_refused(client):
    client.threads = {}
    with pytest.raises(ConnectionError, match="found no worker at 'tcp://here:1' within 30 s"):
        cluster.connect("tcp://here:1")
    assert client.closed


def test_a_cluster_without_the_package_or_an_answer_is_refused(monkeypatch):
    def silent(*_, **__):
        raise TimeoutError("too long")

    monkeypatch.setitem(sys.modules, "distributed", types.SimpleNamespace(Client=silent))
    with pytest.raises(
        ConnectionError, match=r"expected a Dask scheduler that answers .*TimeoutError: too long"
    ):
        cluster.connect("tcp://here:1")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"dpfair-lib\[cluster\]"):
        cluster.connect("tcp://here:1")


def test_the_last_worker_may_be_away_for_a_minute(client, monkeypatch):
    client.threads = {"a": 1}
    assert cluster._gone_since(client, 5.0, "1 of 2 tasks have finished") is None
    client.threads = {}
    monkeypatch.setattr(cluster.time, "monotonic", lambda: 100.0)
    with pytest.warns(RuntimeWarning, match="the last worker at 'tcp://here:1' is gone, 1 of 2 tasks"):
        assert cluster._gone_since(client, None, "1 of 2 tasks have finished") == 100.0
    assert cluster._gone_since(client, 100.0 - cluster.LOST, "") == 100.0 - cluster.LOST
    with pytest.raises(ConnectionError, match="found no worker at 'tcp://here:1' for 60 s"):
        cluster._gone_since(client, 99.0 - cluster.LOST, "")
    client.threads = None
    with pytest.raises(ConnectionError, match="the scheduler at 'tcp://here:1' is lost"):
        cluster._gone_since(client, None, "")

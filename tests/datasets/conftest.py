"""A small made-up data set, a local publisher, and a machine on which no data lie around."""

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest

from dpfair_lib.datasets import pins
from dpfair_lib.datasets.canonical_table import read_csv
from dpfair_lib.datasets.loading import SPECS
from dpfair_lib.datasets.spec import File, Spec

REAL = os.environ.get("DPFAIR_DATA")  # before `nothing_around` takes it away

TABLE = pd.DataFrame(
    {
        "age": [31, 42, 53, 64, 25, 36],
        "score": [0.5, 1.25, -2.0, 0.1, 3.0, 7.5],
        "sex": ["f", "m", "m", "f", "f", "m"],
        "town": ["Up", "Down", "Up", "Up", "Down", "Down"],
        "code": [2, 1, 10, 2, 1, 1],
        "outcome": [0, 1, 1, 0, 1, 0],
    }
)


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch, tmp_path):
    """Hide this machine's data, and put the user's cache into the test's own folder."""
    monkeypatch.delenv("DPFAIR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "user-cache" / "dpfair_lib"


@pytest.fixture
def table():
    return TABLE.copy()


@pytest.fixture
def tiny():
    """Return a function that makes the made-up data set's description, with the publisher at an address."""

    def make(base="http://127.0.0.1:9/", **changes):
        layouts = (
            (
                File("first.csv", 4, read_csv, base + "first.csv"),
                File("second.csv", 2, read_csv, base + "second.csv"),
            ),
            (File("whole.csv", 6, read_csv),),
        )
        told = ("title", "publisher", "licence", "citation", "people", "period")
        described = dict.fromkeys(told, "made up")
        usual = {
            "name": "tiny",
            "homepage": "http://127.0.0.1:9/",
            "caveats": ("made up",),
            "columns": {
                "age": "int",
                "score": "float",
                "sex": "str",
                "town": "str",
                "code": "int",
                "outcome": "int",
            },
            "label": "outcome",
            "positive": 1,
            "categorical": ("sex", "town", "code"),
            "sensitive": ("sex", "town"),
            "layouts": layouts,
            "words": {"sex": {"f": "female", "m": "male"}},
        }
        return Spec(**(described | usual | changes))

    return make


@pytest.fixture
def tiny_pins(tiny):
    return pins.measure(tiny(), TABLE)


@pytest.fixture
def parts():
    """Return the publisher's two files."""
    return {"first.csv": TABLE[:4].to_csv(index=False), "second.csv": TABLE[4:].to_csv(index=False)}


@pytest.fixture
def put():
    """Return a function that writes files into a folder."""

    def write(folder: Path, files):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    return write


class _Publisher:
    """A web server whose files and answers the test decides; ``asked`` lists the requests, and ``lengths`` is
    whether it says how long a file is."""

    def __init__(self):
        self.files, self.asked, self.broken, self.lengths = {}, [], set(), True
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path.lstrip("/")
                publisher.asked.append(name)
                content = publisher.files.get(name)
                if content is None:
                    self.send_error(404)
                    return
                body = content.encode() if isinstance(content, str) else content
                self.send_response(200)
                if publisher.lengths:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if name in publisher.broken else body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def publisher(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    served = _Publisher()
    yield served
    served.close()


@pytest.fixture
def real_data(monkeypatch):
    """Return a function that says where the real files of a data set are, or skips the test."""

    def folder(name):
        if REAL is None:
            pytest.skip("the real data are needed: set DPFAIR_DATA to the folder that has them")
        forms = [[file.name for file in layout] for layout in SPECS[name].layouts]
        for place in SPECS[name].places:
            if any(all((Path(REAL) / place / file).is_file() for file in form) for form in forms):
                monkeypatch.setenv("DPFAIR_DATA", REAL)
                return Path(REAL) / place
        pytest.skip(f"$DPFAIR_DATA/{name} does not have {' or '.join(' + '.join(form) for form in forms)}")

    return folder

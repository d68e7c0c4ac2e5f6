import dataclasses

from dpfair_lib import __main__ as command_line
from dpfair_lib.claims import CLAIMS


def test_shell_exit_status(capsys, monkeypatch):
    assert command_line.main(["claims", "--only", "isit.alg-*", "--faults", "--jobs", "1"]) == 0
    assert "6 of 6" in capsys.readouterr().out
    assert command_line.main(["claims", "--jobs", "0"]) == 2
    assert "--jobs: found 0" in capsys.readouterr().err
    assert command_line.main(["claims", "--only", "nothing.*"]) == 2
    assert "no claim matches" in capsys.readouterr().err
    wrong = dataclasses.replace(CLAIMS["isit.alg-1"], verdict="holds")
    monkeypatch.setattr("dpfair_lib.claims.cli.CLAIMS", {"isit.alg-1": wrong})
    assert command_line.main(["claims", "--only", "isit.alg-1"]) == 1
    assert "recorded as 'holds', the run found 'corrected'" in capsys.readouterr().err

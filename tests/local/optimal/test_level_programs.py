from dpfair_lib.local.optimal import columns as columns
from dpfair_lib.local.optimal import level_programs as levels
from dpfair_lib.local.optimal.program import as_program


def test_every_whole_program_is_told_how_much_time_is_left(monkeypatch):
    program, told, solver = as_program([0.5, 0.3, 0.2], [0.2, 0.6, 0.9], 1.0, 0.5), [], levels.solver
    monkeypatch.setattr(levels, "solver", lambda *limit: told.append(limit) or solver(*limit))
    assert levels.level(program, 0.1, program.overall * program.p, 7.0, (1, 1)) is not None
    assert told
    assert all(6 < limit <= 7 for (limit,) in told)

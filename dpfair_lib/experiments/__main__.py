"""``make record``: run the long experiments on the real data and refresh results/.

``python -m dpfair_lib.experiments NAME ...`` records the named ones; without a name, all. A record that is
whole, and was made by this code from this data, is left as it is. An interrupted run goes on where it stopped.
DPFAIR_WORKERS says how many processes take part, DPFAIR_DASK=tcp://host:port which Dask cluster instead.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.datasets import split_isit
from dpfair_lib.datasets.pins import pinned
from dpfair_lib.experiments import (
    audits,
    bounded_impact,
    postprocessing,
    preparation,
    private_postprocessing,
    private_svms,
    projection_tables,
    randomised_training,
    subgroup_fairness,
    tables,
    waterfall,
)
from dpfair_lib.experiments.printed import GROUP_EPSILON
from dpfair_lib.experiments.recording import Experiment, record
from dpfair_lib.experiments.sources import Source, on_data

SPLITS, TRIALS, TABLE_TRIALS = 20, 10, 100


def algorithm_1(name: str, data: str, *, fixed_test: bool) -> Experiment:
    """Algorithm 1 without privacy, a task per split."""
    parameters = {"splits": SPLITS, "seed": 0, "fixed_test": fixed_test}
    tasks = [
        {"source": Source(data), "split": at, "seed": 0, "fixed_test": fixed_test} for at in range(SPLITS)
    ]
    return Experiment(
        name, _origin(data), parameters, functools.partial(on_data, postprocessing.compare_on_split), tasks
    )


def algorithm_2(name: str, data: str, *, fixed_test: bool) -> Experiment:
    """Algorithm 2 with the printed and the stated noise, a task per split."""
    targets = private_postprocessing.published_targets(data)
    chosen: dict[str, Any] = {"seed": 0, "fixed_test": fixed_test, "group_epsilon": GROUP_EPSILON[data]}
    n_train = len(split_isit(_origin(data)["rows"], rng=np.random.default_rng(0)).train)
    privacy = private_postprocessing.account(targets, n_train=n_train, group_epsilon=GROUP_EPSILON[data])
    return Experiment(
        name,
        _origin(data),
        {"trials": TRIALS, **chosen, "privacy": privacy},
        functools.partial(on_data, private_postprocessing.compare_on_split),
        [{"source": Source(data), "split": at, "targets": targets, **chosen} for at in range(TRIALS)],
    )


def moves(name: str, data: str) -> Experiment:
    """How far one record moves the others: a single task, for one training serves all its rows."""
    function = functools.partial(on_data, preparation.others_moves)
    return Experiment(name, _origin(data), {"seed": 0}, function, [{"source": Source(data), "seed": 0}])


def scaling(name: str, data: str) -> Experiment:
    """What scaling without leaks costs, a task per trial."""
    tasks = [{"source": Source(data), "trial": at, "seed": 0} for at in range(TRIALS)]
    function = functools.partial(on_data, preparation.compare_scaling_once)
    return Experiment(name, _origin(data), {"seed": 0, "trials": TRIALS}, function, tasks)


def twelve_tables(name: str, data: str, *, fixed_test: bool) -> Experiment:
    """Algorithm 2 and DP-FERMI as in Tables II–XIII, a task per split and part."""
    parts = ("printed", "coding", "passes") if fixed_test else ("printed", "certified")
    dataset = Source(data).dataset()
    test = split_isit(len(dataset.y), rng=np.random.default_rng(0)).test
    parameters = {
        "trials": TABLE_TRIALS, "seed": 0, "fixed_test": fixed_test, "parts": parts,
        "group_epsilon": GROUP_EPSILON[data],
        "test_groups": dataset.sensitive_features.iloc[test].value_counts().sort_index().tolist(),
    }  # fmt: skip
    tasks = [
        {
            "source": Source(data),
            "data": data,
            "split": at,
            "seed": 0,
            "fixed_test": fixed_test,
            "parts": (part,),
        }
        for part in parts
        for at in range(TABLE_TRIALS)
    ]
    return Experiment(name, _origin(data), parameters, functools.partial(on_data, tables.run_trial), tasks)


def race_tables(name: str, data: str, *, trials: int) -> Experiment:
    """OPT and Fair Projection as in Tables 5.1–5.4, a task per split; the first ten splits are the published ones."""
    parameters = {"trials": trials, "seed": 0}
    tasks = [{"data": data, "split": at, "seed": 0} for at in range(trials)]
    return Experiment(name, _pinned(data), parameters, projection_tables.run_trial, tasks)


def projection_times(name: str, data: str) -> Experiment:
    """What OPT and Fair Projection add to training, in processor seconds, in one run."""
    task = {"data": data, "repeats": 20}
    return Experiment(name, _pinned(data), {"repeats": 20}, projection_tables.time_steps, [task])


def trained_on_reports(name: str, settings: tuple[str, ...], *, tuned: bool) -> Experiment:
    """Figures 5.1–5.10 for attributes of one data set, a task per attribute and seed."""
    data = randomised_training.SETTINGS[settings[0]][0]
    seeds = randomised_training.TUNED_SEEDS[data] if tuned else randomised_training.SEEDS
    levels = randomised_training.TUNED_LEVELS if tuned else randomised_training.LEVELS
    tasks = [
        {"setting": setting, "seed": seed, "levels": levels, "tuned": tuned}
        for setting in settings
        for seed in range(seeds)
    ]
    parameters = {"settings": settings, "seeds": seeds, "levels": levels, "tuned": tuned}
    return Experiment(name, _pinned(data), parameters, randomised_training.run_trial, tasks)


def subgroups(name: str, data: str) -> Experiment:
    """Private no-regret dynamics and their rivals, a task per split and class of subgroups."""
    parameters = {
        "trials": TRIALS, "seed": 0, "rounds": 1000, "samples": subgroup_fairness.SAMPLES,
        "dual_bound": subgroup_fairness.DUAL_BOUND, "tolerance": subgroup_fairness.TOLERANCE,
        "delta": subgroup_fairness.DELTA, "noisy_rounds": subgroup_fairness.NOISY_ROUNDS,
    }  # fmt: skip
    tasks = [
        {"subgroups": kind, "split": at, "seed": 0, "rounds": 1000}
        for kind in subgroup_fairness.CLASSES
        for at in range(TRIALS)
    ]
    return Experiment(name, _pinned(data), parameters, subgroup_fairness.run_trial, tasks)


def bound_table(name: str, data: str) -> Experiment:
    """Table 1 of MPBT, a task per fit; where the grid cuts the last n, as for CelebA, one for all rows too."""
    available = len(bounded_impact.prepared(data).rows)
    n = bounded_impact.sizes(available)[-1]
    tasks = [{"data": data, "fit": fit, "n": n} for fit in bounded_impact.FITS]
    if n < available:
        tasks.append({"data": data, "fit": "as run, optimum", "n": available})
    return Experiment(name, _pinned(data), {"n": n, **_impact()}, bounded_impact.table_rows, tasks)


def bound_moves(name: str, data: str) -> Experiment:
    """How far a replaced record moves the models of Table 1 of MPBT, a task per fit."""
    n = bounded_impact.sizes(len(bounded_impact.prepared(data).rows))[-1]
    tasks = [{"data": data, "fit": fit, "n": n, "seed": 0} for fit in bounded_impact.FITS[1:]]
    return Experiment(name, _pinned(data), {"n": n, "seed": 0, **_impact()}, bounded_impact.moves, tasks)


def bound_figures(name: str, data: str) -> Experiment:
    """Figures 1–3 of MPBT, a task per problem and axis."""
    chosen = {"models": bounded_impact.MODELS, "seed": bounded_impact.SEED}
    tasks = [
        {"data": data, "problem": problem, "axis": axis, **chosen}
        for problem in bounded_impact.PROBLEMS
        for axis in ("n", "epsilon")
    ]
    return Experiment(name, _pinned(data), {**chosen, **_impact()}, bounded_impact.figure_rows, tasks)


def _impact() -> dict[str, Any]:
    names = ("EPSILON", "ZETA", "SPLIT_SEED", "SLACK", "LIPSCHITZ")
    return {name.lower(): getattr(bounded_impact, name) for name in names}


def down_to_the_noise(name: str, data: str) -> Experiment:
    """Bounds from Table 1 down to what the noise does, a task per trained model."""
    parameters = {"draws": 10_000, "seed": 0}
    tasks = [{"data": data, "fit": fit, **parameters} for fit in waterfall.FITS]
    return Experiment(name, _pinned(data), parameters, waterfall.run_fit, tasks)


def svms(name: str, data: str) -> Experiment:
    """Support vector machines, private and not, and equalized odds, a task per split with redrawn test rows."""
    parameters = {
        "trials": SPLITS, "seed": 0, "gamma": private_svms.GAMMA, "delta": private_svms.DELTA,
        "test_share": private_svms.TEST_SHARE, "svc_rows": private_svms.SVC_ROWS,
        "largest_weights": private_svms.LARGEST_WEIGHTS, "sgd": private_svms.SGD,
    }  # fmt: skip
    tasks = [{"source": Source(data), "split": at, "seed": 0} for at in range(SPLITS)]
    function = functools.partial(on_data, private_svms.run_trial)
    return Experiment(name, _origin(data), parameters, function, tasks)


def audited_releases(name: str) -> Experiment:
    """A lower bound on the ε of every kind of release, a task per release; on made-up rows."""
    parameters = {"fits": audits.FITS, "draws": audits.DRAWS, "failure": audits.FAILURE, "seed": 0}
    tasks = [{"release": release, "seed": 0} for release in audits.RELEASES]
    return Experiment(name, {"name": "made up"}, parameters, audits.run_audit, tasks)


FIGURES = {
    "adult": ("adult-gender", "adult-race", "adult-race-gender"),
    "lsac": ("lsac-gender", "lsac-family-income"),
    # once more on their own: with the signs of the differences
    "adult-gender": ("adult-gender",),
    "lsac-gender": ("lsac-gender",),
}

# name → how to make the experiment of that name
EXPERIMENTS: dict[str, Callable[[str], Experiment]] = {
    "privacy-audits": audited_releases,
    "isit-alg-1-adult": functools.partial(algorithm_1, data="adult", fixed_test=True),
    "isit-alg-1-adult-fresh-test": functools.partial(algorithm_1, data="adult", fixed_test=False),
    **{
        f"isit-alg-2-{data}{suffix}": functools.partial(algorithm_2, data=data, fixed_test=fixed)
        for data in ("adult", "credit")
        for suffix, fixed in (("", True), ("-fresh-test", False))
    },
    **{
        f"isit-tables-{data}{suffix}": functools.partial(twelve_tables, data=data, fixed_test=fixed)
        for data in ("adult", "credit")
        for suffix, fixed in (("", True), ("-fresh-test", False))
    },
    "thesis-tables-compas": functools.partial(race_tables, data="compas", trials=TABLE_TRIALS),
    "thesis-tables-adult": functools.partial(race_tables, data="adult", trials=TABLE_TRIALS),
    **{
        f"thesis-figures-{part}{suffix}": functools.partial(
            trained_on_reports, settings=settings, tuned=tuned
        )
        for part, settings in FIGURES.items()
        for suffix, tuned in (("", False), ("-tuned", True))
    },
    **{
        f"mpbt-{what}-{data}": functools.partial(run, data=data)
        for data in ("celeba", "acs-income")
        for what, run in (("table", bound_table), ("moves", bound_moves), ("figures", bound_figures))
    },
    "cgkm-subgroups-adult": functools.partial(subgroups, data="adult"),
    "mpbt-waterfall-celeba": functools.partial(down_to_the_noise, data="celeba"),
    "sk-private-svms-adult": functools.partial(svms, data="adult"),
    "sk-private-svms-compas": functools.partial(svms, data="compas"),
    "thesis-projection-times": functools.partial(projection_times, data="compas"),
    **{
        f"isit-preparation-{data}-{what}": functools.partial(run, data=data)
        for data in ("adult", "credit")
        for what, run in (("moves", moves), ("scaling", scaling))
    },
}


def main(arguments: list[str] | None = None) -> None:
    """Record every experiment, or those named, with a line of progress per task."""
    parser = argparse.ArgumentParser(prog="python -m dpfair_lib.experiments", description=__doc__)
    known = ", ".join(EXPERIMENTS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {known}; all without a name")
    parser.add_argument("--force", action="store_true", help="make records anew that are whole and fit")
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.names if name not in EXPERIMENTS]:
        parser.error(f"found {unknown[0]!r}, expected one of {known}")
    try:
        for name in chosen.names or EXPERIMENTS:
            record(EXPERIMENTS[name](name), force=chosen.force)
    except KeyboardInterrupt:
        sys.exit("interrupted; finished tasks are kept, and the same command goes on from there")
    except (
        ValueError,
        OSError,
    ) as error:  # a setting, the data or the cluster; a failed task shows where it failed
        sys.exit(f"{parser.prog}: {error}")


def _origin(data: str) -> dict[str, Any]:
    dataset = Source(data).dataset()
    groups = dataset.sensitive_features.value_counts().sort_index().to_dict()
    return {"name": data, "checksum": dataset.card.checksum, "rows": len(dataset.y), "groups": groups}


def _pinned(data: str) -> dict[str, Any]:
    pins = pinned()[data]
    return {"name": data, "checksum": pins.table, "rows": pins.rows}


if __name__ == "__main__":
    main()

"""Budgets as contexts: other relations, threads, processes, releases charged as one."""

import asyncio
import math
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.model_selection import cross_val_score

import dpfair_lib as dpf
from dpfair_lib import Budget, ObjectivePerturbation, PrivacyStatement, PrivateFairPostprocessor
from dpfair_lib.privacy import BudgetExceededError, released_values
from dpfair_lib.privacy.budgets import open_budgets
from dpfair_lib.privacy.budgets.open_budgets import charge, charged_as_one

HALF = PrivacyStatement(0.5, 0.0, "replace-one")


def test_statements_are_converted_where_they_imply_one():
    with Budget(1.0, 1e-3, "replace-one") as budget:
        charge(PrivacyStatement(0.5, 0.0, "add-remove"))
    assert budget.spent[0].epsilon == 1.0
    assert budget.spent[0].relation == "replace-one"
    rates = PrivateFairPostprocessor(0.5, relation="replace-within-group")
    with (
        Budget(1.0, 1e-3, "replace-one"),
        pytest.raises(ValueError, match="implies nothing under 'replace-one'"),
    ):
        rates.fit([0, 1, 1, 0], sensitive_features=[0, 0, 1, 1])
    assert not hasattr(rates, "noisy_rates_")


def test_all_open_budgets_are_charged_and_closed_ones_are_not():
    with Budget(2.0, 0.0, "replace-one") as outer:
        with Budget(0.5, 0.0, "replace-one") as inner:
            charge(HALF)
            with pytest.raises(BudgetExceededError):
                charge(HALF)
        charge(HALF)
    charge(HALF)
    assert (len(outer.spent), len(inner.spent)) == (
        3,
        1,
    )  # the refused one was already charged to the outer budget


LABELS, GROUPS, TABLE = [0, 1, 1, 0] * 5, [0, 0, 1, 1] * 5, {"job": ["a", "b"] * 10}
WITHOUT_NOISE = {
    "rates": lambda: PrivateFairPostprocessor(math.inf).fit(LABELS, sensitive_features=GROUPS),
    "one rate": lambda: PrivateFairPostprocessor((1.0, math.inf)).fit(LABELS, sensitive_features=GROUPS),
    "positives": lambda: PrivateFairPostprocessor(math.inf, notion="equal_opportunity").fit(
        LABELS, LABELS, sensitive_features=GROUPS
    ),
    "odds": lambda: dpf.EqualizedOddsPostprocessor(gamma=0.1).fit(LABELS, LABELS[::-1], sensitive_features=GROUPS),
    "odds, infinite": lambda: dpf.EqualizedOddsPostprocessor(gamma=0.1, epsilon=math.inf).fit(
        LABELS, LABELS[::-1], sensitive_features=GROUPS
    ),
    "printed learner": lambda: dpf.ExponentialFairLearner(
        [lambda X, _: np.zeros(len(X))], epsilon=1.0, delta=1e-3, repair=False
    ).fit(np.zeros((20, 1)), [1] * 20, sensitive_features=GROUPS),
    "printed game": lambda: dpf.PrivateNoRegretFair(
        epsilon=1.0, delta=1e-3, subgroups=[{"sex": "f"}, {"sex": "m"}], levels={"job": ["a", "b"], "sex": ["f", "m"]},
        rounds=2, samples=1, repair=False, noise="study", random_state=0,
    ).fit(pd.DataFrame(TABLE), LABELS, sensitive_features=pd.DataFrame({"sex": ["f", "m"] * 10})),
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_NOISE)
def test_what_promises_nothing_is_refused_and_where_it_is_allowed_counted(name):
    release = WITHOUT_NOISE[name]
    statement = release().privacy_statement_
    assert not statement.guarantee
    budget = Budget(1e6, 0.5, statement.relation, unit=statement.unit)
    with budget, pytest.raises(ValueError, match="found one without guarantee"):
        release()
    assert budget.spent == ()
    lenient = Budget(1e6, 0.5, statement.relation, unit=statement.unit, allow_unguaranteed=True)
    if math.isinf(statement.epsilon):
        with lenient, pytest.raises(BudgetExceededError, match="epsilon: found inf"):
            release()
    else:
        with lenient:
            release()
        assert [one.epsilon for one in lenient.spent] == [statement.epsilon]


def test_a_budget_opened_twice_is_charged_once():
    budget = Budget(1.0, 0.0, "replace-one")
    with budget, budget:
        charge(HALF)
    with budget:
        charge(HALF)
    assert len(budget.spent) == 2
    charge(HALF)


def test_an_error_closes_the_budget():
    budget = Budget(1.0, 0.0, "replace-one")
    with pytest.raises(RuntimeError, match="stop"), budget:
        raise RuntimeError("stop")
    charge(HALF)
    assert budget.spent == ()


def test_releases_charged_as_one_cost_their_joint_statement():
    budget = Budget(1.0, 0.0, "replace-one")
    with budget, charged_as_one(PrivacyStatement(0.75, 0.0, "replace-one")):
        charge(HALF)
        with charged_as_one(HALF):
            charge(HALF)
        charge(HALF)
    assert [one.epsilon for one in budget.spent] == [0.75]
    with budget, pytest.raises(BudgetExceededError), charged_as_one(HALF):
        raise AssertionError("nothing within may run")
    with budget:
        charge(PrivacyStatement(0.25, 0.0, "replace-one"))  # after an error it is charged again
    assert len(budget.spent) == 2


def test_releases_of_other_threads_are_charged():
    budget = Budget(1.0, 0.0, "replace-one")
    with budget, charged_as_one(HALF):
        other = threading.Thread(target=charge, args=(HALF,))
        other.start()
        other.join()
    assert len(budget.spent) == 2  # what another thread releases is no part of the joint statement


def test_a_process_that_is_started_within_refuses_to_fit():
    program = (
        "from dpfair_lib import ObjectivePerturbation\n"
        "ObjectivePerturbation(feature_bound=1, epsilon=1, delta=1e-6, classes=[0, 1]).fit([[0.0], [1.0]], [0, 1])"
    )
    with Budget(1.0, 1e-3, "replace-one") as budget:
        found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert f"budget: found one open in process {os.getpid()}" in found.stderr
    assert budget.spent == ()
    after = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert after.returncode == 0, after.stderr


def test_a_process_that_is_started_within_opens_no_budget_of_its_own():
    program = (
        "from dpfair_lib import Budget, ObjectivePerturbation\n"
        "learner = ObjectivePerturbation(feature_bound=1, epsilon=1, delta=1e-6, classes=[0, 1])\n"
        "try:\n"
        "    with Budget(9.0, 0.1, 'replace-one'):\n"
        "        learner.fit([[0.0], [1.0]], [0, 1])\n"
        "        print('fitted')\n"
        "except RuntimeError as error:\n"
        "    print(error)\n"
        "learner.fit([[0.0], [1.0]], [0, 1])\n"
        "print('fitted')"
    )
    with Budget(1.0, 1e-3, "replace-one"):
        found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.stdout.startswith(f"budget: found one open in process {os.getpid()}")
    assert "fitted" not in found.stdout
    assert found.returncode == 1


def test_a_task_that_waits_within_leaves_no_other_task_free():
    async def waits(until):
        with released_values():
            await until.wait()

    async def releases(until):
        charge(HALF)
        until.set()

    async def both():
        until = asyncio.Event()
        await asyncio.gather(waits(until), releases(until))

    with Budget(1.0, 0.0, "replace-one") as budget:
        asyncio.run(both())
    assert budget.spent == (HALF,)


def test_a_task_that_was_begun_within_is_charged_once_that_has_ended():
    async def releases():
        charge(HALF)

    async def begins():
        with released_values():
            task = asyncio.create_task(releases())
        await task

    with Budget(1.0, 0.0, "replace-one") as budget:
        asyncio.run(begins())
    assert budget.spent == (HALF,)


def test_a_block_that_another_thread_ends_leaves_nothing_free_there():
    def within():
        with released_values():
            yield

    def ends():
        block.close()
        charge(HALF)

    begun = []

    def begins():
        begun.append(within())
        next(begun[0])

    with Budget(1.0, 0.0, "replace-one") as budget:
        other = threading.Thread(target=begins)
        other.start()
        other.join()
        (block,) = begun
        ends()
    assert budget.spent == (HALF,)


def test_workers_that_joblib_kept_do_not_fit_beside_the_budget():
    learner = ObjectivePerturbation(feature_bound=1, epsilon=1, delta=1e-6, classes=[0, 1])

    def scores():
        X, y = np.zeros((40, 1)), np.arange(40) % 2
        return cross_val_score(learner, X, y, cv=2, n_jobs=2, error_score="raise")

    assert len(scores()) == 2  # the pool is warm now
    with Budget(1.5, 1e-5, "replace-one") as budget:
        with pytest.raises(RuntimeError, match="found one open in process"):
            scores()
        assert budget.spent == ()
    assert len(scores()) == 2  # and no worker is left that was told of a budget


def test_the_work_of_another_thread_goes_on():
    pool = get_reusable_executor(max_workers=1)
    begun = pool.submit(time.sleep, 0.2)
    with Budget(1.0, 0.0, "replace-one"):
        assert pool.submit(int, "3").result() == 3  # a pool that was stopped would take no more
    assert begun.result() is None


def test_a_release_is_refused_if_the_one_open_budget_is_in_another_process(monkeypatch):
    name = open_budgets._VARIABLE
    monkeypatch.setenv(name, str(os.getpid()))
    charge(HALF)  # left by a budget of this process: nothing is open elsewhere
    monkeypatch.setenv(name, str(os.getpid() + 1))
    with pytest.raises(RuntimeError, match=rf"found one open in process {os.getpid() + 1}, .*n_jobs=1"):
        charge(HALF)
    budget = Budget(1.0, 0.0, "replace-one")
    with pytest.raises(RuntimeError, match=rf"found one open in process {os.getpid() + 1}"), budget:
        raise AssertionError("it would hide the other one")
    assert os.environ[name] == str(os.getpid() + 1)
    monkeypatch.delenv(name)
    with budget:
        assert os.environ[name] == str(os.getpid())
        monkeypatch.setenv(name, str(os.getpid() + 1))
        charge(HALF)  # a budget of this process takes it
    assert len(budget.spent) == 1
    assert name not in os.environ
    charge(HALF)


def test_a_forked_process_refuses_to_fit():
    with Budget(1.0, 1e-3, "replace-one"):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                charge(HALF)
                said = b"charged"
            except RuntimeError as error:
                said = str(error).encode()
            os.write(write, said)
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(read, 1000).startswith(b"budget: found process")
    os.close(read)
    os.close(write)


def test_the_sum_of_a_whole_pipeline_by_hand():
    rng = np.random.default_rng(0)
    predictions, groups = rng.integers(0, 2, 40), np.repeat([0, 1], 20)
    with Budget(1.0, 0.0, "replace-within-group", composition="sum") as budget:
        PrivateFairPostprocessor(0.25).fit(predictions, sensitive_features=groups)
        PrivateFairPostprocessor(0.5).fit(predictions, sensitive_features=groups)
    assert budget.remaining.epsilon == 0.25
    assert [one.mechanism[0].kind for one in budget.spent] == ["laplace", "laplace"]


def test_the_variable_is_gone_afterwards():
    assert open_budgets._VARIABLE not in os.environ
    with Budget(1.0, 0.0, "replace-one"):
        assert os.environ[open_budgets._VARIABLE] == str(os.getpid())
    assert open_budgets._VARIABLE not in os.environ


def test_an_error_gives_nothing_back():
    # what was released before the error is known, whatever failed afterwards
    budget = Budget(1.0, 0.0, "replace-one")

    def releases():
        with budget:
            for _ in range(3):
                charge(HALF)

    with pytest.raises(BudgetExceededError):
        releases()
    assert budget.spent == (HALF, HALF)
    with budget, pytest.raises(BudgetExceededError):
        charge(HALF)


def test_of_several_budgets_the_one_that_ends_is_closed():
    # contexts of two threads end in any order
    first, second, third = (Budget(9.0, 0.0, "replace-one") for _ in range(3))
    for budget in (first, second, third):
        budget.__enter__()
    charged = [0, 0, 0]
    for at in (0, 2, 1):
        (first, second, third)[at].__exit__(None, None, None)
        charge(HALF)
        charged = [len(budget.spent) for budget in (first, second, third)]
        assert charged == {0: [0, 1, 1], 2: [0, 2, 1], 1: [0, 2, 1]}[at]
    assert open_budgets._VARIABLE not in os.environ


def test_an_error_within_releases_charged_as_one_leaves_no_later_one_free():
    budget = Budget(2.0, 0.0, "replace-one")
    with budget:
        with pytest.raises(RuntimeError, match="stop"), charged_as_one(HALF):
            raise RuntimeError("stop")
        charge(HALF)
        with charged_as_one(HALF):
            with pytest.raises(RuntimeError, match="stop"), charged_as_one(HALF):
                raise RuntimeError("stop")
            charge(HALF)  # still within the outer one
        charge(HALF)
    assert budget.spent == (HALF,) * 4


def test_a_search_around_a_learner_says_that_the_budget_refused_it():
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection import GridSearchCV, cross_val_score

    X = np.random.default_rng(0).random((200, 3))
    y = (X[:, 0] > 0.5).astype(int)
    learner = dpf.ObjectivePerturbation(feature_bound=1.0, epsilon=1.0, delta=1e-6, classes=(0, 1))
    for settings in ({}, {"error_score": "raise"}):
        searched = GridSearchCV(learner, {"feature_bound": [1.0]}, cv=2, **settings)
        with (
            dpf.Budget(2.0, 1e-4, "replace-one") as budget,
            pytest.raises(BudgetExceededError, match=r"3\.0 in total"),
        ):
            searched.fit(X, y)  # two fits to compare, and the third of all rows is refused
        assert len(budget.spent) == 2
        assert not hasattr(searched.best_estimator_, "coef_")
    with dpf.Budget(2.0, 1e-4, "replace-one"), pytest.raises(BudgetExceededError, match=r"3\.0 in total"):
        cross_val_score(learner, X, y, cv=3, error_score="raise")
    with (
        dpf.Budget(2.0, 1e-4, "replace-one"),
        pytest.warns(FitFailedWarning, match="BudgetExceededError: epsilon"),
    ):
        scores = cross_val_score(learner, X, y, cv=3)
    assert np.isnan(scores).tolist() == [False, False, True]

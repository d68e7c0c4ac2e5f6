"""ISIT, § IV and Appendix B: the twelve printed noise levels, and the ε that each of them gives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.experiments.isit.noise_levels import (
    CALIBRATION_ROWS,
    HALF_OF_ALL,
    LEVELS,
    READINGS,
    SIZES,
    TRAINING_ROWS,
    Level,
    matches,
    sampling,
)
from dpfair_lib.experiments.printed import CLIP, DELTA
from dpfair_lib.privacy import (
    EpsilonInterval,
    dp_sgd_epsilon,
    dp_sgd_epsilon_lower_bound,
    dp_sgd_noise,
    gaussian_epsilon,
    prv_interval,
)

exact_upper = cache(dp_sgd_epsilon)
exact_lower = cache(dp_sgd_epsilon_lower_bound)
exact_noise = cache(dp_sgd_noise)


@cache
def second_witness(multiplier: float, rate: float, steps: int) -> EpsilonInterval:
    """Return the interval that the PRV accountant certifies, add-remove, at δ′ = 1e-5."""
    return prv_interval(multiplier, rate, steps, DELTA, epsilon_error=0.05)


def check(
    *,
    upper: Callable[..., float] = exact_upper,
    lower: Callable[..., float] = exact_lower,
    noise: Callable[..., float] = exact_noise,
    search: Search,
) -> Evidence:
    """Judge every level under every reading, and find the training size on which the levels rest."""
    _sampled_rows_added_or_removed(upper, lower, search)
    _rows_replaced(lower, search)
    search.exhausts("12 levels, 2 readings, 2 sampling rates, 2 neighbouring relations", cases=12 * 2 * 2 * 2)
    _full_batches(upper, lower, noise, search)
    _half_of_all_rows(lower, search)
    _true_epsilons(upper, lower, search)
    _central_limit(lower, search)
    _training_size(noise, search)
    return search.evidence()


def cases() -> Iterator[tuple[Level, str, bool, float, float, int]]:
    """Go through the levels, both readings and both rates: the case, then multiplier, rate and steps."""
    for level, (reading, divisor), by_batches in itertools.product(LEVELS, READINGS.items(), (True, False)):
        rate, steps = sampling(level, TRAINING_ROWS[level.data], by_batches=by_batches)
        yield level, reading, by_batches, level.noise / divisor, rate, steps


@once
def _sampled_rows_added_or_removed(
    upper: Callable[..., float], lower: Callable[..., float], search: Search
) -> None:
    """Literal reading: Adult is missed, Credit met but for two levels at the second rate. Multiplier: all met."""
    met = dict.fromkeys(READINGS, 0)
    for level, reading, by_batches, multiplier, rate, steps in cases():
        case = {
            **level._asdict(), "reading": reading, "rate": "1/batches" if by_batches else "1024/rows",
            "relation": "add-remove",
        }  # fmt: skip
        search.part(f"{level.data}, {reading}")
        least = lower(multiplier, rate, steps, DELTA)
        if reading == "noise over clip":
            search.against(
                level.target - least,
                {"data": level.data, "target": level.target, "accountant": level.accountant, "noise": level.noise,
                 "by_batches": by_batches},
                verify=printed_slack, tolerance=1e-9,
            )  # fmt: skip
        if level.data == "adult" and reading == "noise over clip":
            search.observe(least - level.target, case)  # even if the rates cost nothing more
            continue
        # Rényi accounting is an upper bound too, and ten times as fast; it is enough where there is room
        most = upper(multiplier, rate, steps, DELTA, "rdp" if reading == "multiplier" else "pld")
        search.sanity(most - least, case | {"what": "bounds in order"})
        if (
            level.data == "credit"
            and level.accountant == "gdp"
            and reading != "multiplier"
            and not by_batches
        ):
            search.observe(least + level.for_rates - level.target, case)  # missed with the rates' share only
            search.observe(level.target - most, case)
        else:
            search.observe(level.target - most - level.for_rates, case)
            met[reading] += 1
    for reading, count in met.items():
        search.fact(
            f"met_{'multiplier' if reading == 'multiplier' else 'literal'}",
            count,
            f"met under removal, of 24 levels and rates: {reading}",
        )


@once
def _full_batches(
    upper: Callable[..., float], lower: Callable[..., float], noise: Callable[..., float], search: Search
) -> None:
    """Where every record is in every batch the steps are one Gaussian release, whose ε is known, at any δ."""
    search.part("full batches, other δ")
    for relation, delta, steps in (
        ("add-remove", 1e-5, 1), ("add-remove", 1e-2, 9), ("replace-one", 1e-5, 9), ("replace-one", 1e-2, 1)
    ):  # fmt: skip
        moved = math.sqrt(steps) * (1 if relation == "add-remove" else 2)
        exact = gaussian_epsilon(delta, 3.0, moved)
        case = {"relation": relation, "δ": delta, "steps": steps, "exact": exact}
        most = upper(3.0, 1.0, steps, delta, "pld", relation=relation)
        search.observe(min(most - exact, exact + 1e-5 - most), case, tolerance=1e-9)
        fine, coarse = (
            lower(3.0, 1.0, steps, delta, relation=relation, resolution=resolution)
            for resolution in (1e-3, 1e-2)
        )
        search.observe(min(exact - fine, fine + 1e-4 - exact), case)
        search.agree(exact - 1e-2 <= coarse < fine, True, case | {"what": "larger bins show less"})
        needed = noise(exact, delta, 1.0, steps, "pld", relation=relation)
        search.observe(min(needed - 3, 3.001 - needed), case, tolerance=1e-9)


def printed_slack(data: str, target: int, accountant: str, noise: float, by_batches: bool) -> float:
    """Return ε′ less the lower end of the PRV accountant's interval for the training alone."""
    level = Level(data, target, accountant, noise)
    rate, steps = sampling(level, TRAINING_ROWS[data], by_batches=by_batches)
    return target - second_witness(noise / CLIP, rate, steps).lower


@once
def _rows_replaced(lower: Callable[..., float], search: Search) -> None:
    """One record replaced, the number of records public: no reading of any level meets its ε′."""
    for level, reading, by_batches, multiplier, rate, steps in cases():
        search.part(f"{level.data}, {reading}, replaced")
        least = lower(multiplier, rate, steps, DELTA, relation="replace-one")
        case = {**level._asdict(), "reading": reading, "rate": by_batches, "relation": "replace-one"}
        search.observe(least - level.target, case)
        if level.accountant == "prv" and level.target == 3 and by_batches:  # an upper bound, and a close one
            most = exact_upper(multiplier, rate, steps, DELTA, "pld", relation="replace-one")
            search.observe(
                min(most - least, least - 0.99 * most), case | {"what": "bounds in order, and close"}
            )


@once
def _half_of_all_rows(lower: Callable[..., float], search: Search) -> None:
    """Adult, if the incomplete rows were trained on too: all levels miss, one of them with the rates' share only."""
    search.part("half of all rows of Adult")
    alone = set()
    for level, by_batches in itertools.product(LEVELS, (True, False)):
        if level.data != "adult":
            continue
        rate, steps = sampling(level, HALF_OF_ALL, by_batches=by_batches)
        least = lower(level.noise / CLIP, rate, steps, DELTA)
        search.observe(least + level.for_rates - level.target, {**level._asdict(), "rate": rate})
        if least <= level.target:
            alone.add(level.noise)
    search.fact(
        "half_of_all_met",
        ", ".join(map(str, sorted(alone))),
        "Adult levels not missed by training alone on half of all rows",
    )


@once
def _true_epsilons(upper: Callable[..., float], lower: Callable[..., float], search: Search) -> None:
    """Adult's guarantee is broken: certified lower bounds of ε, a record removed as printed or replaced at best."""
    search.part("true ε of Adult's runs")
    found, removed, replaced = [], [], []
    for level in (level for level in LEVELS if level.data == "adult" and level.accountant == "prv"):
        rate, steps = sampling(level, TRAINING_ROWS[level.data])
        least = lower(level.noise / CLIP, rate, steps, DELTA)
        found.append(f"{_down(least)} for {level.target}")
        case = {"level": level.noise, "ε′": level.target, "relation": "add-remove"}
        search.broken(
            "ε of DP-SGD at δ′ = 1e-5, noise over clip", measured=least, stated=level.target, case=case
        )
        # all releases cost what training does at least, and the parts' sum at most
        most = upper(level.noise / CLIP, rate, steps, DELTA, "pld") + level.for_rates
        search.observe(most - level.for_rates - least, case | {"what": "bounds in order"})
        removed.append(f"{_down(least)} to {math.ceil(100 * most) / 100:.2f} for {level.target}")
        other = lower(level.noise / CLIP, rate, steps, DELTA, relation="replace-one")
        search.observe(other - level.target, case | {"relation": "replace-one"})
        replaced.append(f"{_down(other)} for {level.target}")
        # the reading that asks for least: the number is the multiplier
        best = lower(level.noise, rate, steps, DELTA, relation="replace-one")
        case |= {"relation": "replace-one", "reading": "multiplier"}
        search.broken("ε of DP-SGD at δ′ = 1e-5, multiplier", measured=best, stated=level.target, case=case)
    search.fact(
        "adult_epsilon", "; ".join(found), "ε of DP-SGD on Adult (PRV levels), at least, for the stated ε′"
    )
    search.fact(
        "adult_releases",
        f"one record added or removed: {', '.join(removed)}; one replaced: at least {', '.join(replaced)}",
        "ε of all releases on Adult (PRV levels), every step seen, beside the stated ε′",
    )


def _down(bound: float) -> str:
    """Return a lower bound with two digits, rounded so that it stays one."""
    return f"{math.floor(100 * bound) / 100:.2f}"


@once
def _central_limit(lower: Callable[..., float], search: Search) -> None:
    """What GDP reports for its own levels is less than there is; what Rényi accounting reports is more."""
    search.part("accountants against certified bounds")
    gaps = []
    for level in LEVELS:
        rate, steps = sampling(level, TRAINING_ROWS[level.data])
        case = {**level._asdict(), "rate": rate, "steps": steps}
        certified = lower(level.noise / CLIP, rate, steps, DELTA)
        if level.accountant == "prv":
            continue
        reported = exact_upper(level.noise / CLIP, rate, steps, DELTA, level.accountant)
        search.observe((certified - reported) * (1 if level.accountant == "gdp" else -1), case)
        if level.accountant == "gdp":
            gaps.append(certified - reported)
    search.fact("gdp_short", f"{min(gaps):.3f} to {max(gaps):.3f}", "GDP reports too little, at least by")
    level = next(level for level in LEVELS if level.noise == 1.45)
    rate, steps = sampling(level, TRAINING_ROWS[level.data], by_batches=False)
    interval = second_witness(level.noise / CLIP, rate, steps)
    certified = lower(level.noise / CLIP, rate, steps, DELTA)
    case = {**level._asdict(), "interval": tuple(interval)}
    search.sanity(min(certified - interval.lower, interval.upper - certified), case)


@once
def _training_size(noise: Callable[..., float], search: Search) -> None:
    """Which training size reproduces the GDP levels, whose formula is closed, to their printed digits."""
    search.part("training size behind the levels")
    for level in (level for level in LEVELS if level.accountant == "gdp"):
        for rows, divisor, spent in itertools.product(
            SIZES[level.data], READINGS.values(), (0.0, level.for_rates)
        ):
            expected = (rows, divisor, spent) == (CALIBRATION_ROWS[level.data], CLIP, level.for_rates)
            found = matches(level, rows, divisor=divisor, spent=spent, noise=noise)
            case = {**level._asdict(), "rows": rows, "divisor": divisor, "spent": spent}
            search.agree(found, expected, case)


FAULTS: dict[str, dict[str, Any]] = {
    "central limit taken for an upper bound": {
        "upper": lambda *numbers, relation="add-remove": exact_upper(
            *numbers[:4], "gdp" if relation == "add-remove" else numbers[4], relation=relation
        )
    },
    "losses of the steps taken for squares": {
        "upper": lambda *numbers, **relation: math.sqrt(exact_upper(*numbers, **relation))
    },
    "central limit taken for a lower bound": {
        "lower": lambda *numbers, relation="add-remove", **how: (
            exact_upper(*numbers, "gdp")
            if relation == "add-remove"
            else exact_lower(*numbers, relation=relation, **how)
        )
    },
    "loss of one step times the steps": {
        "lower": lambda sigma, rate, steps, *rest, **relation: steps * exact_lower(sigma, rate, 1, *rest, **relation)
    },
    "replaced is taken for removed": {"lower": lambda *numbers, **_: exact_lower(*numbers)},
    "a replaced record costs twice a removed one": {
        "lower": lambda *numbers, relation="add-remove", **_: (
            exact_lower(*numbers) * (1 + (relation == "replace-one"))
        )
    },
    "printed number taken for the multiplier": {
        "lower": lambda sigma, *rest, **relation: exact_lower(
            sigma * CLIP if f"{sigma * CLIP:.2f}" in {f"{level.noise:.2f}" for level in LEVELS} else sigma,
            *rest, **relation,
        )
    },
    "the rates' share not set aside": {
        "noise": lambda epsilon, *rest, **how: exact_noise(max(round(epsilon), 1), *rest, **how)
    },
    "one epoch only": {
        "noise": lambda epsilon, delta, rate, steps, name, **how: (
            exact_noise(epsilon, delta, rate, max(steps // 50, 1), name, **how)
        )
    },
    "δ of 1e-5 always": {
        "upper": lambda sigma, rate, steps, delta, name, **how: (
            exact_upper(sigma, rate, steps, min(delta, 1e-5), name, **how)
        )
    },
    "a removed record for the replaced one in the calibration": {
        "noise": lambda *numbers, **_: exact_noise(*numbers)
    },
}  # fmt: skip


EPSILON_SHOWN = """import math
import numpy as np
rate, noise, steps, h, size = 1 / 23, 3.13 / 1.5, 50 * 23, 2e-5, 2**20  # Adult, ε′ = 3, half of 45,222 rows
x = np.linspace(-18, 19, 400_001)
cdf = np.array([[math.erf((t - m) / noise / math.sqrt(2)) / 2 for t in x] for m in (0, 1)])
loss = np.floor(np.log1p(rate * np.expm1((2 * x[:-1] - 1) / (2 * noise**2))) / h).astype(int)
law = np.bincount(loss % size, weights=(1 - rate) * np.diff(cdf[0]) + rate * np.diff(cdf[1]), minlength=size)
total = np.fft.irfft(np.fft.rfft(law) ** steps, size)  # the losses of all steps, rounded down
delta = (total * -np.expm1(np.minimum(3 - h * np.fft.fftfreq(size, 1 / size), 0))).sum()
assert delta > 1e-5  # so ε′ = 3 is missed"""

CLAIM = Claim(
    id="isit.noise-multipliers",
    where="ISIT § IV (PRV), App. B (moments, GDP); thesis § 3.5 (PRV)",
    statement="DP-SGD noise of standard deviation 3.13, 1.5 (Adult), 4.44, 2.49 (Credit) by PRV, "
    "3.27, 1.56, 4.65, 2.6 by moments, 3.01, 1.45, 4.3, 2.43 by GDP gives ε′ = 3, 9 in all at δ′ = 1e-5.",
    verdict="corrected",
    finding="All steps seen, one record added or removed, clip 1.5: the six Adult levels miss ε′ on half of the "
    "complete rows, by training alone, and on half of all; they rest on 30,162 rows. With both rates the PRV levels "
    "have ε between 3.22 and 3.33 for 3, and between 10.10 and 10.21 for 9. Credit's hold at rate 1/15 "
    "(its GDP levels not at 1024/15,000). Read as multipliers, all hold. With one record replaced, none does under "
    "any reading: for Adult's PRV levels training alone costs at least 6.55 and 17.21.",
    headline="Adult's runs miss the stated ε′ of 3 and 9, every step seen: at least 3.22 and 10.10 with a record "
    "added or removed, 6.55 and 17.21 with one replaced.",
    witness="On {data}, the noise {noise} printed for ε′ = {target} with the accountant {accountant}, read as noise "
    "over clip. With one record added or removed the training alone already costs more than {target}.",
    kind="guarantee-broken",
    impact="conclusion",
    because="The paper compares its methods at ε′ = 3 and 9, which Adult's printed noise does not give.",
    shown_by="adult_releases",
    statement_uses=("isit.thm-3.privacy",),
    chapter="isit-noise",
    errata=(
        Erratum(
            where="§ IV and Appendix B, the noise levels for Adult; thesis § 3.5 (PRV)",
            printed="standard deviations 3.13, 1.5; 3.27, 1.56; 3.01, 1.45 for the stated split",
            correct="they are calibrated for 30,162 training rows; half of 45,222 rows is 22,611, for which ε′ asks "
            "for more noise",
            band="result",
            why="With 22,611 training rows every batch holds a larger share of the rows, so each step reveals more.",
            shown=EPSILON_SHOWN,
        ),
        Erratum(
            where="§ IV, Definition 1 beside the accountants; thesis § 3.5",
            printed="(ε′, δ′) for data sets that differ in one record, group sizes public, by accountants for DP-SGD",
            correct="the accountants are for a record added or removed; data sets of one public size differ by a "
            "record replaced, which costs about twice as much",
            band="condition",
            why="A replaced record moves a sum of clipped gradients by up to 2C, a removed one by C.",
        ),
    ),
    check=check,
    faults=FAULTS,
)

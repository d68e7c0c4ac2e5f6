"""The calculators compute what the library computes, answer to the keyboard, and leave a figure without JavaScript."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import browsing
import legibility
import numpy as np
import pytest
import subsampled_grid
from scipy.special import ndtr

from dpfair_lib.central import least_gap, parity
from dpfair_lib.local import Randomizer, binary, smallest_error
from dpfair_lib.local.truthful import binary_front
from dpfair_lib.margins import certificate, projections, radius
from dpfair_lib.privacy import gaussian
from dpfair_lib.privacy.laplace import LaplaceMechanism

ROOT = Path(__file__).resolve().parents[2]
HTML = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html")).resolve()
SCRIPT = ROOT / "book/_static/calculations.js"
PAGE = HTML / "notebooks/calculators.html"
CALL = "([name, inputs]) => inputs.map(input => window.dpfairCalculators[name](...input))"
INPUTS = 1000
AGREEMENT = 1e-9
# the accountant's Fourier transforms round differently on other processors: up to 4e-5 of ε was seen, at δ = 1e-8
ROUNDING = 1e-4
AXES = ("sigma", "rate", "steps", "delta")
Inputs = list[Any]

pytestmark = pytest.mark.skipif(browsing.find_browser() is None, reason="no Chromium found")
needs_page = pytest.mark.skipif(
    not PAGE.exists(), reason="the page of calculators is not built: make book first"
)


@dataclass(frozen=True)
class Case:
    """A function of the page, how its inputs are drawn, what the library says, and a fault to be noticed."""

    draw: Callable[[np.random.Generator], Inputs]
    expected: Callable[..., Any]
    fault: tuple[str, str]
    floor: float = 1e-6  # what is smaller is compared absolutely, as a share of this


def log(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    return round(log(rng, low, high))


def unit(rng: np.random.Generator) -> float:
    return float(rng.uniform(0, 1))


def shares(rng: np.random.Generator) -> tuple[float, float]:
    """Return a share in (0, 1) and e^(−ε)."""
    return float(rng.uniform(0.01, 0.99)), math.exp(-log(rng, 0.01, 20))


def few_rates(rng: np.random.Generator) -> Inputs:
    return [[unit(rng), unit(rng)], [whole(rng, 1, 600), whole(rng, 1, 600)], log(rng, 0.02, 20)]


def least(rng: np.random.Generator) -> Inputs:
    delta = 0.0 if rng.random() < 0.3 else log(rng, 1e-9, 0.3)
    return [whole(rng, 1, 3000), log(rng, 1e-3, 30), delta, float(rng.uniform(0.01, 0.5))]


def front(rng: np.random.Generator) -> Inputs:
    share, x = shares(rng)
    low = smallest_error([share, 1 - share], -math.log(x))
    return [share, x, float(rng.uniform(low, 0.55))]


def front_expected(share: float, x: float, error: float) -> list[float]:
    matrix = binary_front(np.array([share, 1 - share]), x, error)
    return [matrix[0, 0], matrix[1, 1]]


def channel(rng: np.random.Generator) -> Inputs:
    k = int(rng.integers(2, 7))
    matrix = rng.dirichlet(np.full(k, log(rng, 0.05, 500)), size=k)
    if rng.random() < 0.2:  # a report that some value never makes, or none
        matrix[: int(rng.integers(1, k + 1)), int(rng.integers(k))] = 0
        matrix /= np.where(matrix.sum(axis=1, keepdims=True) > 0, matrix.sum(axis=1, keepdims=True), 1)
    if rng.random() < 0.1:  # reports that do not depend on the value
        matrix[:] = matrix[0]
    if rng.random() < 0.2:  # not a channel
        matrix[0, 0] += float(rng.choice([-2.0, 0.1, 1e-6, 1e-11]))
    return [matrix.tolist()]


def channel_expected(matrix: list[list[float]]) -> list[float]:
    """Return ε, the probabilities of the worst report, and −1 for what the library refuses."""
    try:
        found = Randomizer(matrix)
    except ValueError:
        return [-1.0] * 3
    ratios = [
        1
        if max(column) == 0
        else math.inf
        if min(column) == 0
        else Fraction(max(column)) / Fraction(min(column))
        for column in zip(*matrix, strict=True)
    ]
    worst = [row[max(range(len(ratios)), key=ratios.__getitem__)] for row in matrix]
    return [found.epsilon, max(worst), min(worst)]


def radius_setting(rng: np.random.Generator) -> Inputs:
    setting = {
        "lipschitz": log(rng, 0.1, 10), "modulus": log(rng, 1e-4, 10), "n": whole(rng, 10, 10**6),
        "epsilon": log(rng, 0.01, 10), "delta": log(rng, 1e-12, 0.5), "zeta": log(rng, 1e-6, 0.9),
        "kind": str(rng.choice(["lemma-4.1", "exact"])),
        "noise": str(rng.choice(["classical", "analytic"])),
    }  # fmt: skip
    return [whole(rng, 1, 5000), setting]


def radius_expected(p: int, setting: dict[str, Any]) -> float:
    renamed = {"modulus": "strong_convexity", "noise": "noise_kind"}
    return radius.output_perturbation_radius(p, **{renamed.get(k, k): v for k, v in setting.items()})


def distances(rng: np.random.Generator) -> Inputs:
    groups = [sorted(rng.exponential(size=int(rng.integers(2, 40))).tolist()) for _ in range(2)]
    reach = 0.0 if rng.random() < 0.05 else log(rng, 1e-2, 5)
    slack = 0.0 if rng.random() < 0.5 else float(rng.uniform(0, 0.6))
    return [groups, float(groups[0][0]) if rng.random() < 0.1 else reach, slack]


def distances_expected(groups: list[list[float]], reach: float, slack: float) -> list[float]:
    scores = np.array(groups[0] + groups[1])
    labels = np.concatenate([np.arange(len(group)) % 2 for group in groups])
    # one feature, whose weight is the distance of each row: a diagonal table is linear in it
    found = certificate.certify(
        np.where(labels == 1, scores, -scores),
        labels * 2 + np.repeat([0, 1], [len(group) for group in groups]),
        labels=np.array([0, 1]), levels=np.array([0, 1]), notion="accuracy_parity", radius=reach,
        bound="exact", slack=slack, desirable=np.array([], dtype=int),
    )  # fmt: skip
    return found.deviation.tolist()


CASES = {
    "normalCdf": Case(
        lambda rng: [float(rng.uniform(-37, 8))],
        lambda x: float(ndtr(x)),
        ("const reach = 90 /", "const reach = 30 /"),
        1e-300,
    ),
    "laplaceDelta": Case(
        lambda rng: [float(rng.uniform(0, 5)), log(rng, 0.1, 10), log(rng, 0.1, 10)],
        lambda e, b, s: LaplaceMechanism(b, s).delta(e),
        ("Math.expm1((epsilon - pure) / 2)", "Math.expm1(epsilon - pure)"),
    ),
    "laplaceEpsilon": Case(
        lambda rng: [log(rng, 1e-9, 0.5), log(rng, 0.1, 10), log(rng, 0.1, 10)],
        lambda d, b, s: max(0.0, s / b + 2 * math.log1p(-d)),
        ("2 * Math.log1p", "Math.log1p"),
    ),
    "gaussianDelta": Case(
        lambda rng: [float(rng.uniform(0, 20)), log(rng, 0.1, 30), log(rng, 0.1, 3)],
        gaussian.gaussian_delta,
        ("a = epsilon / mu - mu / 2", "a = epsilon / mu - mu / 3"),
        1e-290,
    ),
    "gaussianLogDelta": Case(
        lambda rng: [log(rng, 1e-3, 100), log(rng, 0.05, 100), log(rng, 0.1, 3)],
        gaussian.gaussian_log_delta,
        ("Math.log(2 * Math.PI) / 2;", "Math.log(2 * Math.PI) / 3;"),
        1.0,
    ),
    "gaussianEpsilon": Case(
        lambda rng: [log(rng, 1e-12, 0.5), log(rng, 0.1, 30), log(rng, 0.1, 3)],
        gaussian.gaussian_epsilon,
        ("mu * mu / 2 + mu * Math.sqrt", "mu * mu / 4 + mu / 2 * Math.sqrt"),
    ),
    "gaussianSigma": Case(
        lambda rng: [log(rng, 0.01, 20), log(rng, 1e-12, 0.5), log(rng, 0.1, 3)],
        lambda e, d, s: gaussian.gaussian_sigma(e, d, s, "analytic"),
        ("step < 200", "step < 20"),
    ),
    "expectedParityGap": Case(
        few_rates,
        lambda rates, n, e: parity.expected_parity_gap(rates=rates, n=n, epsilon=e, mechanism="geometric"),
        ("(a + b) / 2) - moved(beta", "(a + b) / 3) - moved(beta"),
    ),
    "gapQuantile": Case(
        lambda rng: [float(rng.uniform(0.001, 0.9)), *few_rates(rng)],
        lambda eta, rates, n, e: parity.gap_quantile(eta, rates=rates, n=n, epsilon=e, mechanism="geometric"),
        ("law[n] = left[n] / (1 + decay)", "law[n] = left[n]"),
        1e-2,
    ),
    "parityBound": Case(
        lambda rng: [
            [whole(rng, 1, 10**6), whole(rng, 1, 10**6)], log(rng, 0.01, 20), float(rng.uniform(1e-6, 0.99))
        ],
        parity.parity_bound,
        ("Math.log(8 / eta)", "Math.log(4 / eta)"),
    ),
    "leastExpectedGap": Case(
        least,
        lambda n, e, d, k: least_gap.least_expected_gap(n, e, d, response=k),
        ("i <= 32", "i <= 12"),
    ),
    "matchingGap": Case(
        least, lambda n, e, d, k: least_gap.matching_gap(n, e, d, response=k), ("(4 * delta)", "(2 * delta)")
    ),
    "unfairnessRatio": Case(
        lambda rng: [shares(rng)[0], unit(rng), unit(rng), str(rng.choice(["difference", "ratio"]))],
        lambda share, p, q, kind: float(binary.unfairness_ratio(share, p, q, kind)),
        ("share * p + (1 - share)", "share * q + (1 - share)"),
    ),
    "optimalTruths": Case(
        lambda rng: [*shares(rng)],
        lambda s, x: list(binary.optimal_truths(s, x)),
        ("[1 - x / 2, 0.5]", "[1 - x, 0.5]"),
    ),
    "equallyTruthful": Case(
        lambda rng: [*shares(rng)], binary.equally_truthful_response, ("(1 + smaller(share)", "(1 + share")
    ),
    "binaryFront": Case(front, front_expected, ("(4 * rest)", "(2 * rest)")),
    "channel": Case(channel, channel_expected, ("epsilon > worst.epsilon", "epsilon < worst.epsilon")),
    "perturbationRadius": Case(radius_setting, radius_expected, ("2 * lipschitz", "lipschitz")),
    "projectionQuantile": Case(
        lambda rng: [log(rng, 1e-9, 0.999), unit(rng)],
        radius.projection_quantile,
        ("zeta * slack, -40", "zeta, -40"),
    ),
    "markovReach": Case(
        lambda rng: [log(rng, 1e-3, 10), log(rng, 1e-6, 0.9), log(rng, 1e-6, 0.9), int(rng.integers(1, 9))],
        lambda sigma, zeta, slack, groups: projections.markov_reach(
            sigma, zeta=zeta, slack=slack, groups=groups
        ),
        ("zeta / groups, slack", "zeta, slack"),
    ),
    "accuracyDeviation": Case(distances, distances_expected, ("distances[1].length / rows", "0.5")),
}  # fmt: skip

# the library's answer on a channel: what it refuses, or ε with the probabilities of the worst report
CHANNEL = """window.dpfairCalculators.channel = matrix => {
  try {
    const worst = dpfairCalculators.channelEpsilon(dpfairCalculators.checkChannel(matrix));
    return [worst.epsilon, worst.high, worst.low];
  } catch { return [-1, -1, -1]; }
}"""


@pytest.fixture(scope="module")
def browser():
    with browsing.chromium() as started:
        yield started


def disagreement(browser: Any, name: str, script: str, count: int) -> float:
    """Return the largest relative difference between a function of the script and the library, on seeded inputs."""
    case, rng = CASES[name], np.random.default_rng([20, sorted(CASES).index(name)])
    inputs = [case.draw(rng) for _ in range(count)]
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.add_script_tag(content=script)
        page.add_script_tag(content=CHANNEL)
        found = page.evaluate(CALL, [name, inputs])
    worst = 0.0
    for ours, arguments in zip(found, inputs, strict=True):
        for one, other in zip(np.ravel(ours), np.ravel(case.expected(*arguments)), strict=True):
            if one != other:
                size = abs(float(one) - float(other)) / max(abs(float(other)), case.floor)
                worst = max(worst, size if size == size else math.inf)
    return worst


@pytest.mark.parametrize("name", CASES)
def test_calculation_agrees_with_the_library(browser, name):
    assert disagreement(browser, name, SCRIPT.read_text("utf-8"), INPUTS) <= AGREEMENT


@pytest.mark.parametrize("name", CASES)
def test_planted_fault_is_noticed(browser, name):
    right, wrong = CASES[name].fault
    script = SCRIPT.read_text("utf-8")
    assert script.count(right) == 1, f"{name}: the fault's place is not unique"
    assert disagreement(browser, name, script.replace(right, wrong), 100) > AGREEMENT


def stored_grid() -> dict[tuple[Any, ...], float]:
    stored = subsampled_grid.read()
    return dict(zip(product(*(stored[name] for name in AXES)), stored["epsilon"], strict=True))


def wrong_points(values: dict[tuple[Any, ...], float]) -> list[tuple[Any, ...]]:
    """List the points at which the accountant says something else."""
    found = {point: subsampled_grid.epsilon(*point) for point in values}
    return [
        point
        for point, value in values.items()
        if abs(value - found[point]) > ROUNDING * max(found[point], 1e-3)
    ]


def test_precomputed_grid_is_whole():
    stored = subsampled_grid.read()
    assert [tuple(stored[name]) for name in AXES] == [getattr(subsampled_grid, name.upper()) for name in AXES]


@pytest.mark.parametrize("sigma", subsampled_grid.SIGMA)
def test_precomputed_grid_is_the_accountants(sigma):
    assert wrong_points({point: value for point, value in stored_grid().items() if point[0] == sigma}) == []


def test_wrong_precomputed_number_is_noticed():
    point = (1.0, 0.01, 100, 1e-5)
    assert wrong_points({point: stored_grid()[point] * (1 + 3e-4)}) == [point]


# ---------------------------------------------------------------- the page

NAMES = ("gap", "least", "local", "channel", "profile", "perturbation")
AXE = """async () => (await axe.run('.calculator', {preload: false})).violations.map(one =>
  `${one.id}: ${one.nodes.map(node => node.html.slice(0, 80)).join(" | ")}`)"""


def three_digits(values: list[float]) -> list[str]:
    return [f"{value:.3g}" for value in values]


def shown(page: Any, name: str) -> tuple[list[str], str, str]:
    """Return the numbers beside the curves, the figure, and the sentence of one calculator."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    holder = page.locator(f'[data-calculator="{name}"]')
    drawing = holder.locator(".drawing").inner_html()
    return holder.locator(".legend strong").all_inner_texts(), drawing, holder.locator("output").inner_text()


def started() -> dict[str, list[str]]:
    """Return what the library says at the settings with which the calculators start."""
    rates = {"rates": (0.6, 0.4), "n": 1000, "epsilon": 1.0, "mechanism": "geometric"}
    x, share = math.exp(-1), 0.3
    truth = binary.equally_truthful_response(share, x)
    fair = np.diag(binary_front(np.array([share, 1 - share]), x, 1 - truth))
    pairs = [(1 / (1 + x),) * 2, binary.optimal_truths(share, x), (truth, truth), tuple(fair)]
    return {
        "gap": three_digits(
            [
                parity.parity_bound(1000, 1.0, 0.05),
                parity.gap_quantile(0.05, **rates),
                parity.expected_parity_gap(**rates),
            ]
        ),
        "least": three_digits(
            [
                least_gap.least_expected_gap(300, 0.1, 1e-3),
                least_gap.matching_gap(300, 0.1, 1e-3),
                least_gap.least_expected_gap(300, math.inf),
            ]
        ),
        "local": three_digits([binary.unfairness_ratio(share, *pair, "ratio") for pair in pairs]),
        "profile": three_digits(
            [
                math.sqrt(2) + 2 * math.log1p(-1e-6),
                gaussian.gaussian_epsilon(1e-6, 1.0, 1.0),
                subsampled_grid.epsilon(1.0, 0.01, 1000, 1e-6),
            ]
        ),
    }  # fmt: skip


@needs_page
@pytest.mark.parametrize(("size", "scheme"), [(browsing.DESK, "light"), (browsing.PHONE, "dark")])
def test_calculators_are_drawn_and_open_to_all(browser, size, scheme):
    problems: list[str] = []
    with browsing.opened(browser, PAGE.as_uri(), size, scheme, problems) as page:
        for name in NAMES:
            _, drawing, said = shown(page, name)
            assert "<path" in drawing
            assert "NaN" not in drawing + said
            assert len(said) > 40
        page.evaluate(legibility.axe())
        problems += page.evaluate(AXE)
        problems += page.evaluate(browsing.WIDTH)
        small = legibility.small_text([], page.evaluate(legibility.DRAWN_TEXT))
    assert problems + small == []


@needs_page
def test_numbers_at_the_start_are_the_librarys(browser):
    with browsing.opened(browser, PAGE.as_uri(), browsing.DESK, "light", []) as page:
        found = {name: [f"{float(value):.3g}" for value in shown(page, name)[0]] for name in started()}
    assert found == started()


@needs_page
@pytest.mark.parametrize("name", [name for name in NAMES if name != "channel"])
def test_the_keyboard_moves_every_slider(browser, name):
    problems: list[str] = []
    with browsing.opened(browser, PAGE.as_uri(), browsing.PHONE, "light", problems) as page:
        sliders = page.locator(f'[data-calculator="{name}"] input[type="range"]')
        assert sliders.count() >= 2
        for i in range(sliders.count()):
            before, text = shown(page, name), sliders.nth(i).get_attribute("aria-valuetext")
            sliders.nth(i).focus()
            page.keyboard.press("ArrowLeft")
            after = shown(page, name)
            assert sliders.nth(i).get_attribute("aria-valuetext") != text
            assert after[0] != before[0]
            assert after[1] != before[1]
            assert after[2] != before[2]
    assert problems == []


TYPED = {
    "1/2 1/2\n1/4 3/4": "ε = 0.693. Report 1 tells values 1 and 2 apart best: 0.5 against 0.25.",
    "1 0\n0.5 0.5": "ε = ∞. Report 2 tells values 2 and 1 apart best: 0.5 against 0. One of them never",
    "0.5, 0.5\n0.5, 0.5": "ε = 0: the reports do not depend on the value at all.",
    "0.5 0.5\n0.5": "This is no channel: row 2 has 1 entries, row 1 has 2.",
    "0.5 0.4\n0.5 0.5": "This is no channel: row 1 sums to 0.9, not to 1.",
    "1.5 -0.5\n0.5 0.5": "This is no channel: “-0.5” is no probability",
    "1.5 0\n0.5 0.5": "This is no channel: row 1 has the entry 1.5; a probability is between 0 and 1.",
    "0/0 1\n0.5 0.5": "This is no channel: row 1 has the entry NaN",
    "0.2 0.3 0.5\n0.5 0.3 0.2": "This is no channel: there are 2 rows and 3 columns",
    "0,5 0,5\n0,25 0,75": "This is no channel: “0,5” may be one number or several; write 0.5 with a point",
    "1,0\n0,1": "This is no channel: “1,0” may be one number or several",
    "0.5,0.5\n1/2,1/2": "ε = 0: the reports do not depend on the value at all.",
    "0.5,.5\n0.25, 0.75": "ε = 0.693. Report 1 tells values 1 and 2 apart best: 0.5 against 0.25.",
    "a b\nc d": "This is no channel: “a” is no probability",
    "": "This is no channel: type at least two rows",
}


@needs_page
def test_a_typed_channel_is_judged(browser):
    problems: list[str] = []
    with browsing.opened(browser, PAGE.as_uri(), browsing.DESK, "light", problems) as page:
        box = page.get_by_label("Channel, one row for each true value")
        for typed, said in TYPED.items():
            box.fill(typed)
            _, drawing, found = shown(page, "channel")
            assert found.startswith(said), typed
            assert bool(drawing) == (not said.startswith("This is no channel"))
            assert box.get_attribute("aria-invalid") == str(not drawing).lower()
    assert problems == []


@needs_page
def test_sentences_about_one_setting_are_folded_away_from_the_live_answers(browser):
    with browsing.opened(browser, PAGE.as_uri(), browsing.DESK, "light", []) as page:
        names = page.locator("details:has(> .tag_static-figure) > summary").all_inner_texts()
        assert len(set(names)) == len(NAMES)
        for name in NAMES:
            section = page.locator("section", has=page.locator(f'[data-calculator="{name}"]')).last
            pasted = section.locator(".pasted-text").first
            assert not pasted.is_visible()
            section.locator("details:has(> .tag_static-figure) > summary").click()
            assert pasted.is_visible()


@needs_page
def test_without_javascript_a_figure_and_a_sentence_are_left(browser):
    with browser.new_context(offline=True, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(PAGE.as_uri())
        for name in NAMES:
            holder = page.locator(f'[data-calculator="{name}"]')
            assert holder.locator("p").is_visible()
            assert "needs JavaScript" in holder.inner_text()
            section = page.locator("section", has=holder).last
            still = section.locator(".tag_static-figure")
            assert still.locator("img").is_visible()
            assert still.locator(".figure-caption").is_visible()
            assert section.locator(".pasted-text").first.is_visible()

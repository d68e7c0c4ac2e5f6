// The page of calculators: inputs, a figure drawn as SVG, and a sentence for each; the numbers are calculations.js's.
(() => {
  const C = window.dpfairCalculators, SVG = "http://www.w3.org/2000/svg";
  const HEIGHT = 300, LEFT = 62, RIGHT = 22, TOP = 12, BOTTOM = 46;
  const steps = (low, high, each) => { // `each` values a decade, of two digits
    const count = Math.round(Math.log10(high / low) * each);
    return Array.from({ length: count + 1 }, (_, i) => +(low * 10 ** (i / each)).toPrecision(2));
  };
  const spaced = (low, high, count, log) => Array.from({ length: count }, (_, i) => {
    const share = i / (count - 1);
    return log ? low * (high / low) ** share : low + (high - low) * share;
  });
  const RAISED = Object.fromEntries([..."-0123456789"].map((digit, i) => [digit, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"[i]]));
  const show = x => {
    if (!Number.isFinite(x)) return "∞";
    if (x === 0 || (Math.abs(x) >= 9.995e-4 && Math.abs(x) < 999999.5))
      return (Math.abs(x) >= 1000 ? Math.round(x) : +x.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 8 });
    const [digits, power] = x.toExponential(1).split("e");
    const ten = "10" + [...power.replace("+", "")].map(digit => RAISED[digit]).join("");
    return +digits === 1 ? ten : `${+digits} · ${ten}`;
  };
  const add = (parent, name, attributes = {}, text) => {
    const one = parent.namespaceURI === SVG || name === "svg" ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    if (text !== undefined) one.textContent = text;
    parent.append(one);
    return one;
  };

  // ---------------------------------------------------------------- the figure

  const ticks = ({ low, high, log }, most) => {
    if (log) {
      const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
      const every = Math.ceil((last - first + 1) / most);
      return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i)).filter((_, i) => i % every === 0);
    }
    const rough = (high - low) / most, unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * ([1, 2, 5].find(one => one * unit >= rough) || 10);
    return Array.from({ length: Math.floor((high - low) / step + 1e-9) + 1 }, (_, i) => +(low + i * step).toPrecision(9));
  };
  const place = ({ low, high, log }, from, to) => value => {
    const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return from + (to - from) * Math.min(Math.max(share, -0.5), 1.5);
  };
  const frame = (box, name, x, y) => {
    const width = Math.max(box.clientWidth, 260), svg = add(box, "svg", { role: "img", "aria-label": name, width, height: HEIGHT });
    const [right, bottom] = [width - RIGHT, HEIGHT - BOTTOM], at = [place(x, LEFT, right), place(y, bottom, TOP)];
    for (const value of x.ticks || ticks(x, width < 480 ? 4 : 7)) {
      if (!x.ticks) add(svg, "line", { class: "grid", x1: at[0](value), x2: at[0](value), y1: TOP, y2: bottom });
      add(svg, "text", { x: at[0](value), y: bottom + 18, "text-anchor": "middle" }, x.names ? x.names(value) : show(value));
    }
    for (const value of ticks(y, 6)) {
      add(svg, "line", { class: "grid", x1: LEFT, x2: right, y1: at[1](value), y2: at[1](value) });
      add(svg, "text", { x: LEFT - 6, y: at[1](value) + 4, "text-anchor": "end" }, show(value));
    }
    add(svg, "path", { class: "axes", d: `M${LEFT} ${TOP}V${bottom}H${right}` });
    add(svg, "text", { x: (LEFT + right) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, x.label);
    add(svg, "text", { transform: `translate(13 ${(TOP + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, y.label);
    const cut = { x: 0, y: TOP - 5, width: right + 5, height: bottom - TOP + 5 }; // what a nested drawing shows
    return { inside: add(svg, "svg", { ...cut, viewBox: Object.values(cut).join(" ") }), at, bottom };
  };
  const lines = ({ name, x, y, here, curves }) => box => {
    const { inside, at, bottom } = frame(box, name, x, y);
    if (here !== undefined) add(inside, "line", { class: "here", x1: at[0](here), x2: at[0](here), y1: TOP, y2: bottom });
    curves.forEach(({ points, dots }, i) => {
      const drawn = points.filter(point => point.every(Number.isFinite)).map(([a, b]) => [at[0](a).toFixed(1), at[1](b).toFixed(1)]);
      add(inside, "path", { class: `curve curve-${i}`, d: "M" + drawn.map(point => point.join(" ")).join("L") });
      if (dots) for (const [cx, cy] of drawn) add(inside, "circle", { class: `curve-${i}`, cx, cy, r: 4 });
    });
  };
  const bars = ({ name, x, y, heights, worst }) => box => {
    const { inside, at, bottom } = frame(box, name, x, y), wide = (at[0](1) - at[0](0)) * 0.6;
    heights.forEach((height, i) => {
      const top = Number.isFinite(height) ? at[1](height) : TOP;
      add(inside, "rect", { class: i === worst ? "bar worst" : "bar", x: at[0](i + 1) - wide / 2, y: top, width: wide, height: bottom - top });
      add(inside, "text", { x: at[0](i + 1), y: Math.max(top - 5, TOP + 10), class: top < TOP + 15 ? "on-bar" : "", "text-anchor": "middle" },
        show(height));
    });
  };

  // ---------------------------------------------------------------- the six calculators
  // inputs: key → [label, values, index at the start]; `at` returns the drawing, the legend and the sentence

  const EPSILONS = steps(0.01, 10, 8), ROWS = [30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000];
  const calculators = {
    gap: {
      inputs: { n: ["Rows of each group, n", ROWS, 9], epsilon: ["Privacy of each rate, ε", EPSILONS.slice(4), 12],
        eta: ["Failure probability, η", [0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.5], 3] },
      at({ n, epsilon, eta }) {
        const rates = [0.6, 0.4], sizes = spaced(30, 3000, 17, true).map(Math.round);
        const kinds = [["printed bound, Laplace noise", m => C.parityBound([m, m], epsilon, eta)],
          ["exact quantile, geometric noise", m => C.gapQuantile(eta, rates, [m, m], epsilon)],
          ["exact mean, geometric noise", m => C.expectedParityGap(rates, [m, m], epsilon, 1e-9)]];
        const now = kinds.map(([, value]) => value(n));
        const draw = lines({ name: "Parity gap of Algorithm 2 and its bound against the number of rows", here: n,
          x: { low: 30, high: 3000, log: true, label: "rows of each group, n" }, y: { low: 0.001, high: 3, log: true, label: "parity gap" },
          curves: kinds.map(([, value]) => ({ points: sizes.map(m => [m, value(m)]) })) });
        const end = now[0] >= 1 ? "A bound of 1 or more says nothing." : `The bound is ${show(now[0] / now[1])} times the exact value.`;
        return { draw, legend: kinds.map(([name], i) => [name, now[i]]),
          said: `With probability ${show(1 - eta)} the gap is at most ${show(now[1])}; the printed bound says ${show(now[0])}. ${end}` };
      },
    },
    least: {
      inputs: { n: ["Records of the group, n", ROWS, 6], epsilon: ["ε of the whole algorithm", EPSILONS, 8],
        delta: ["δ of the whole algorithm", [0, 1e-6, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1], 3] },
      at({ n, epsilon, delta }) {
        const kinds = [["no private classifier has less", e => C.leastExpectedGap(n, e, delta, 0.5)],
          ["one private classifier attains", e => C.matchingGap(n, e, delta, 0.5)],
          ["bound without privacy", () => C.leastExpectedGap(n, Infinity, 0, 0.5)]];
        const now = kinds.map(([, value]) => value(epsilon)), free = now[2];
        const draw = lines({ name: "Least expected parity gap of a private classifier against epsilon", here: epsilon,
          x: { low: 0.01, high: 10, log: true, label: "ε" }, y: { low: 0.001, high: 0.5, log: true, label: "worst expected gap" },
          curves: [...kinds.slice(0, 2).map(([, value]) => ({ points: spaced(0.01, 10, 41, true).map(e => [e, value(e)]) })),
            { points: [[0.01, free], [10, free]] }] });
        const end = now[0] > 1.01 * free ? `That is ${show(now[0] / free)} times the bound without privacy.`
          : "Privacy raises this bound by at most 1 % at this n.";
        return { draw, legend: kinds.map(([name], i) => [name, now[i]]),
          said: `Every such classifier has an expected gap of at least ${show(now[0])} on some population. ${end}` };
      },
    },
    local: {
      inputs: { share: ["Share of the smaller group, m", spaced(0.02, 0.5, 25).map(m => +m.toFixed(2)), 14],
        epsilon: ["Local privacy, ε", EPSILONS.slice(8, 22), 8] },
      at({ share, epsilon }) {
        const channels = e => {
          const x = Math.exp(-e), full = 1 / (1 + x), truth = C.equallyTruthful(share, x);
          return [["response at ε", [full, full]], ["Theorem 14", C.optimalTruths(share, x)],
            ["response, as truthful as Theorem 14", [truth, truth]],
            ["optimum, as truthful as Theorem 14", C.binaryFront(share, x, 1 - truth)]];
        };
        const left = ([p, q], kind = "ratio") => C.unfairnessRatio(share, p, q, kind);
        const grid = spaced(0.1, 5, 60).map(e => [e, channels(e)]), now = channels(epsilon), values = now.map(one => left(one[1]));
        const draw = lines({ name: "Part of the unfairness that reports keep against epsilon", here: epsilon,
          x: { low: 0, high: 5, label: "ε" }, y: { low: 0, high: 1, label: "Δ of reports / Δ of values" },
          curves: now.map((_, i) => ({ points: grid.map(([e, all]) => [e, left(all[i][1])]) })) });
        const [full, , truth] = now.map(([, [p]]) => show(p));
        return { draw, legend: now.map(([name], i) => [name, values[i]]),
          said: `At ε = ${show(epsilon)} response tells the truth with probability ${full} and keeps ${show(values[0])} of Δ. `
            + `The other three do with probability ${truth}: Theorem 14's channel keeps ${show(values[1])} of Δ (${show(left(now[1][1], "difference"))} of Δ′), `
            + `response ${show(values[2])}, the optimum ${show(values[3])}.` };
      },
    },
    channel: {
      typed: ["Channel, one row for each true value", "0.5 0.25 0.25\n0.25 0.5 0.25\n0.1 0.3 0.6"],
      at(text) {
        const worst = C.channelEpsilon(C.parseChannel(text)), heights = worst.reports.map(one => one.epsilon), k = heights.length;
        const high = 1.1 * Math.max(0.5, ...heights.filter(Number.isFinite));
        const pair = `values ${worst.likely + 1} and ${worst.unlikely + 1}`, odds = `${show(worst.high)} against ${show(worst.low)}`;
        const draw = bars({ name: "Epsilon of each report", heights, worst: worst.report, y: { low: 0, high, label: "ε of the report" },
          x: { low: 0.4, high: k + 0.6, label: "report", ticks: heights.map((_, i) => i + 1) } });
        return { draw, legend: [],
          said: worst.epsilon === 0 ? "ε = 0: the reports do not depend on the value at all."
            : `ε = ${show(worst.epsilon)}. Report ${worst.report + 1} tells ${pair} apart best: ${odds}.`
            + (worst.epsilon === Infinity ? " One of them never makes this report, so no finite ε holds." : "") };
      },
    },
    profile: {
      inputs: { sigma: ["Noise, σ", window.dpfairSubsampledGrid.sigma, 1], rate: ["Sampling rate, q", window.dpfairSubsampledGrid.rate, 1],
        count: ["Steps, T", window.dpfairSubsampledGrid.steps, 2] },
      at({ sigma, rate, count }) {
        const grid = window.dpfairSubsampledGrid, [i, j, k] = [grid.sigma.indexOf(sigma), grid.rate.indexOf(rate), grid.steps.indexOf(count)];
        const start = ((i * grid.rate.length + j) * grid.steps.length + k) * grid.delta.length, scale = sigma / Math.SQRT2;
        const sampled = grid.delta.map((delta, m) => [Math.max(grid.epsilon[start + m], 0.01), delta]), epsilons = spaced(0.01, 1000, 160, true);
        const now = [C.laplaceEpsilon(1e-6, scale, 1), C.gaussianEpsilon(1e-6, sigma, 1), grid.epsilon[start + grid.delta.indexOf(1e-6)]];
        const draw = lines({ name: "Privacy profiles: delta against epsilon",
          x: { low: 0.01, high: 1000, log: true, label: "ε" }, y: { low: 1e-10, high: 1, log: true, label: "δ" },
          curves: [{ points: epsilons.map(e => [e, Math.max(C.laplaceDelta(e, scale, 1), 1e-12)]) },
            { points: epsilons.map(e => [e, Math.max(C.gaussianDelta(e, sigma, 1), 1e-12)]) }, { points: sampled, dots: true }] });
        const names = ["Laplace, one release", "Gaussian, one release", `Gaussian, ${show(count)} subsampled ${count > 1 ? "steps" : "step"}`];
        return { draw, legend: names.map((name, m) => [`${name}: ε at δ = 10⁻⁶`, now[m]]),
          said: `At δ = 10⁻⁶ one Gaussian release has ε = ${show(now[1])}; `
            + `${show(count)} subsampled ${count > 1 ? "steps have" : "step has"} ε ≤ ${show(now[2])}. `
            + `At ε = 1 Laplace noise of the same deviation has δ = ${show(C.laplaceDelta(1, scale, 1))}, `
            + `Gaussian noise ${show(C.gaussianDelta(1, sigma, 1))}.` };
      },
    },
    perturbation: {
      inputs: { n: ["Training records, n", steps(100, 1e6, 6), 12], epsilon: ["ε of the model", EPSILONS.slice(4), 12],
        p: ["Parameters, p", [2, 5, 10, 20, 50, 100, 200, 500, 1000], 4] },
      at({ n, epsilon, p }) {
        const { distances, modulus, delta, zeta, slack } = JSON.parse(document.getElementById("calculator-rows").textContent);
        const setting = (kind, noise) => ({ lipschitz: 1, modulus, n: 1, epsilon, delta, zeta, kind, noise }); // a radius is in proportion to 1/n
        const radii = [["Lemma 4.1, as printed", C.perturbationRadius(p, setting("lemma-4.1", "classical")), 0],
          ["exact radius, exact noise", C.perturbationRadius(p, setting("exact", "analytic")), 0],
          ["reach of each row, exact noise", C.markovReach(C.noiseSigma(setting("exact", "analytic")), zeta, slack, distances.length), slack]];
        const bound = (radius, m, more) => Math.max(...C.accuracyDeviation(distances, radius / m, more));
        const now = radii.map(([, radius, more]) => bound(radius, n, more)), sizes = spaced(100, 1e6, 81, true);
        const draw = lines({ name: "Certificate against the number of training records", here: n,
          x: { low: 100, high: 1e6, log: true, label: "training records, n" }, y: { low: 0, high: bound(1, 1e-9, 0), label: "bound on the change" },
          curves: radii.map(([, radius, more]) => ({ points: sizes.map(m => [m, bound(radius, m, more)]) })) });
        return { draw, legend: radii.map(([name, radius], i) => [`${name} (${show(radius / n)})`, now[i]]),
          said: `With probability ${show(1 - zeta)} the noise moves the model by at most ${show(radii[1][1] / n)}; `
            + `Lemma 4.1 says ${show(radii[0][1] / n)}. So a group's accuracy, minus everyone's, changes by at most ${show(now[1])}; `
            + `the reach of each row says ${show(now[2])}.`
            + (epsilon > 1 ? " Above ε = 1 the printed noise is not proved private." : "") };
      },
    },
  };

  // ---------------------------------------------------------------- inputs and answers

  const build = holder => {
    const name = holder.dataset.calculator, calculator = calculators[name], inputs = {};
    holder.replaceChildren();
    const asked = add(holder, "div", { class: "inputs" });
    if (calculator.typed) {
      const [label, text] = calculator.typed, id = `calculator-${name}`;
      add(asked, "label", { for: id }, label);
      inputs.text = add(asked, "textarea", { id, rows: 5, spellcheck: "false", "aria-describedby": `${id}-said` });
      inputs.text.value = text;
    }
    for (const [key, [label, values, start]] of Object.entries(calculator.inputs || {})) {
      const id = `calculator-${name}-${key}`, one = add(asked, "div", { class: "input" });
      add(one, "label", { for: id }, label);
      inputs[key] = add(one, "input", { id, type: "range", min: 0, max: values.length - 1, step: 1, value: start });
      add(one, "span", { class: "value", "aria-hidden": "true" });
    }
    const box = add(holder, "div", { class: "drawing" }), legend = add(holder, "ul", { class: "legend" });
    const said = add(holder, "output", { id: `calculator-${name}-said`, "aria-live": "polite" });
    const refresh = () => {
      const values = {};
      for (const [key, [, all]] of Object.entries(calculator.inputs || {})) {
        values[key] = all[+inputs[key].value];
        inputs[key].setAttribute("aria-valuetext", show(values[key]));
        inputs[key].nextElementSibling.textContent = show(values[key]);
      }
      let answer = null;
      try { answer = calculator.at(inputs.text ? inputs.text.value : values); } catch (problem) {
        if (!inputs.text) throw problem;
        said.textContent = `This is no channel: ${problem.message}.`;
      }
      if (inputs.text) inputs.text.setAttribute("aria-invalid", String(!answer));
      box.replaceChildren();
      legend.replaceChildren();
      if (!answer) return;
      answer.draw(box);
      answer.legend.forEach(([label, value], i) => {
        const item = add(legend, "li"), key = add(item, "svg", { width: 30, height: 12, "aria-hidden": "true" });
        add(key, "path", { class: `curve curve-${i}`, d: "M1 6H29" });
        add(item, "span", {}, `${label}: `);
        add(item, "strong", {}, show(value));
      });
      said.textContent = answer.said;
    };
    let asleep = true;
    const soon = () => {
      if (asleep) requestAnimationFrame(() => { asleep = true; refresh(); });
      asleep = false;
    };
    asked.addEventListener("input", soon);
    window.addEventListener("resize", soon);
    refresh();
    // with the live figure at hand, the library's static one is folded away, and with it the sentence about its setting
    const section = holder.closest("section"), still = section.querySelector(".tag_static-figure");
    if (!still) return;
    const fold = document.createElement("details"), title = section.querySelector("h2").firstChild.textContent.trim();
    add(fold, "summary", {}, `The library's figure and numbers at one setting: ${title}`);
    still.before(fold);
    while (fold.nextElementSibling?.matches("p, .tag_static-figure")) fold.append(fold.nextElementSibling);
  };
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".calculator").forEach(build));
})();

// The mathematics of the page of calculators: pure functions, each the same as one of the library's.
// tests/pages/test_calculators.py compares them on random inputs.
(() => {
  const TIE = 1e-12; // a gap that is the threshold but for rounding does not exceed it
  const REACH = 1e-9; // relative: a row this close to the edge of the radius counts as inside
  const sum = values => values.reduce((total, value) => total + value, 0);

  // the x at which a falling function passes its target; `high` is on the side where it is at most the target
  const solve = (falling, target, low, high) => {
    for (let step = 0; step < 200; step++) {
      const middle = (low + high) / 2;
      if (middle === low || middle === high) break;
      if (falling(middle) <= target) high = middle; else low = middle;
    }
    return high;
  };

  // ---------------------------------------------------------------- normal and gamma distributions

  const legendre = count => { // Gauss's rule on (0, 1)
    const nodes = [], weights = [];
    for (let i = 1; i <= count; i++) {
      let x = Math.cos(Math.PI * (i - 0.25) / (count + 0.5)), slope = 1;
      for (let again = 0; again < 8; again++) {
        let before = 1, now = x;
        for (let k = 2; k <= count; k++) [before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
        slope = count * (x * now - before) / (x * x - 1);
        x -= now / slope;
      }
      nodes.push((1 + x) / 2);
      weights.push(1 / ((1 - x * x) * slope * slope));
    }
    return [nodes, weights];
  };
  const [NODES, WEIGHTS] = legendre(80);

  // ∫ e^(−xs − s²/2) factor(s) ds over s > 0, for x ≥ −1; cut where the exponent is −45
  const halfLine = (x, factor) => {
    const reach = 90 / (x + Math.sqrt(x * x + 90));
    let total = 0;
    for (let i = 0; i < NODES.length; i++) {
      const s = reach * NODES[i];
      total += WEIGHTS[i] * Math.exp(-x * s - s * s / 2) * factor(s);
    }
    return reach * total;
  };
  const mills = x => halfLine(x, () => 1); // Φ(−x)/φ(x)
  const logDensity = x => -x * x / 2 - Math.log(2 * Math.PI) / 2;
  const normalCdf = x => x <= 1 ? Math.exp(logDensity(x)) * mills(-x) : 1 - Math.exp(logDensity(x)) * mills(x);

  const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
  const logGamma = a => {
    let series = LANCZOS[0];
    for (let i = 1; i < 9; i++) series += LANCZOS[i] / (a - 1 + i);
    return (a - 0.5) * Math.log(a + 6.5) - (a + 6.5) + Math.log(2 * Math.PI) / 2 + Math.log(series);
  };
  const gammaUpper = (a, x) => { // Q(a, x): a series below a + 1, a continued fraction above
    if (x <= 0) return 1;
    const front = Math.exp(a * Math.log(x) - x - logGamma(a));
    if (x < a + 1) {
      let term = 1 / a, total = term;
      for (let k = 1; term > total * 1e-17; k++) total += term *= x / (a + k);
      return 1 - front * total;
    }
    let b = x + 1 - a, c = 1e300, d = 1 / b, value = d;
    for (let k = 1; k < 1e5; k++) {
      const top = -k * (k - a);
      b += 2;
      d = 1 / (top * d + b);
      c = b + top / c;
      value *= d * c;
      if (Math.abs(d * c - 1) < 1e-16) break;
    }
    return front * value;
  };

  // ---------------------------------------------------------------- privacy profiles

  const laplaceDelta = (epsilon, scale, sensitivity) => {
    const pure = sensitivity / scale;
    return epsilon >= pure ? 0 : -Math.expm1((epsilon - pure) / 2);
  };
  const laplaceEpsilon = (delta, scale, sensitivity) => Math.max(0, sensitivity / scale + 2 * Math.log1p(-delta));

  const gaussianLogDelta = (epsilon, sigma, sensitivity) => {
    if (epsilon === Infinity) return -Infinity;
    const mu = sensitivity / sigma, a = epsilon / mu - mu / 2, b = a + mu;
    if (a < -1) return Math.log(normalCdf(-a) - Math.exp(logDensity(a)) * mills(b));
    const far = mu * 90 / (a + Math.sqrt(a * a + 90)) > 45; // R(b) is well below R(a)
    const difference = far ? mills(a) - mills(b) : halfLine(a, s => -Math.expm1(-mu * s));
    return Math.min(0, logDensity(a) + Math.log(difference));
  };
  const gaussianDelta = (epsilon, sigma, sensitivity) => Math.exp(gaussianLogDelta(epsilon, sigma, sensitivity));
  const gaussianEpsilon = (delta, sigma, sensitivity) => {
    const target = Math.log(delta), mu = sensitivity / sigma, at = x => gaussianLogDelta(x, sigma, sensitivity);
    return at(0) <= target ? 0 : solve(at, target, 0, mu * mu / 2 + mu * Math.sqrt(-2 * target) + 1e-9);
  };
  const gaussianSigma = (epsilon, delta, sensitivity) => {
    const level = Math.sqrt(-2 * Math.log(delta)), enough = (level + Math.sqrt(level * level + 2 * epsilon)) / (2 * epsilon);
    return sensitivity * solve(x => gaussianLogDelta(epsilon, x, 1), Math.log(delta), 0, enough * (1 + 1e-12));
  };
  const classicalSigma = (epsilon, delta, sensitivity) => sensitivity * Math.sqrt(2 * Math.log(1.25 / delta)) / epsilon;

  // ---------------------------------------------------------------- the parity gap after noisy rates (Algorithm 2)

  const binomial = (n, p) => { // from the likeliest count outwards; what is a factor 1e-30 rarer is left out
    const mode = Math.min(Math.floor((n + 1) * p), n), up = [1], down = [];
    for (let k = mode, mass = 1; k < n && mass > 1e-30; k++) up.push(mass *= (n - k) * p / ((k + 1) * (1 - p)));
    for (let k = mode, mass = 1; k > 0 && mass > 1e-30; k--) down.push(mass *= k * (1 - p) / ((n - k + 1) * p));
    const masses = [...down.reverse(), ...up], total = sum(masses);
    return { first: mode - down.length, masses: masses.map(mass => mass / total) };
  };

  // probabilities of a noisy count, clipped to 0, …, n: the count plus two-sided geometric noise
  const noisyCount = (n, rate, epsilon) => {
    const counts = new Float64Array(n + 1), { first, masses } = binomial(n, rate);
    masses.forEach((mass, i) => { counts[first + i] = mass; });
    const decay = Math.exp(-epsilon), left = counts.slice(), right = counts.slice();
    for (let k = 1; k <= n; k++) left[k] += decay * left[k - 1];
    for (let k = n - 1; k >= 0; k--) right[k] += decay * right[k + 1];
    const law = counts.map((mass, k) => (left[k] + right[k] - mass) * Math.tanh(epsilon / 2));
    law[0] = right[0] / (1 + decay);
    law[n] = left[n] / (1 + decay);
    return law;
  };

  const moved = (rate, believed, target) => believed > target ? rate * target / believed
    : believed < target ? 1 - (1 - rate) * (1 - target) / (1 - believed) : rate;
  const signedGap = (alpha, beta, a, b) => moved(alpha, a, (a + b) / 2) - moved(beta, b, (a + b) / 2);

  const expectedParityGap = (rates, sizes, epsilon, dust = 1e-18) => {
    const [first, second] = sizes.map((n, group) => [...noisyCount(n, rates[group], epsilon)]
      .map((mass, count) => [count / n, mass]).filter(([, mass]) => mass > dust));
    let total = 0;
    for (const [a, mass] of first) {
      let inner = 0;
      for (const [b, other] of second) inner += other * Math.abs(signedGap(rates[0], rates[1], a, b));
      total += mass * inner;
    }
    return total;
  };

  // P(D > t): the gap falls as the first noisy rate grows and rises with the second, so the threshold only moves up
  const exceeds = (alpha, beta, first, second, above, t) => {
    const n = first.length - 1, m = second.length - 1;
    let total = 0, start = 0;
    for (let i = 0; i <= n; i++) {
      while (start <= m && signedGap(alpha, beta, i / n, start / m) <= t + TIE) start++;
      total += first[i] * above[start];
    }
    return total;
  };
  const gapQuantile = (eta, rates, sizes, epsilon) => {
    const laws = sizes.map((n, group) => noisyCount(n, rates[group], epsilon));
    const tails = laws.map(law => {
      const above = new Float64Array(law.length + 1);
      for (let k = law.length - 1; k >= 0; k--) above[k] = above[k + 1] + law[k];
      return above;
    });
    const chance = t => exceeds(rates[0], rates[1], laws[0], laws[1], tails[1], t)
      + exceeds(rates[1], rates[0], laws[1], laws[0], tails[0], t);
    if (chance(0) <= eta) return 0;
    let low = 0, high = 1;
    while (high - low > 1e-12) {
      const middle = (low + high) / 2;
      if (chance(middle) <= eta) high = middle; else low = middle;
    }
    return Math.min(high + 2 * TIE, 1);
  };

  const parityBound = (sizes, epsilon, eta) =>
    sum(sizes.map(n => Math.log(4 / eta) / (n * epsilon) + Math.sqrt(Math.log(8 / eta) / (2 * n))));

  // ---------------------------------------------------------------- the least gap of any private classifier

  const contraction = (odds, delta) => odds === Infinity ? 1 : (odds - 1 + 2 * delta) / (odds + 1);
  const oddsOf = epsilon => epsilon < 700 ? Math.exp(epsilon) : Infinity;
  const privateShift = (n, odds, delta) => {
    const distance = n * contraction(odds, delta);
    return distance <= 0.5 ? 1 : 0.5 / distance;
  };
  const testErrors = (n, odds, delta) => { // g_0, …, g_n of the best private test, given the count
    const start = Math.floor(n / 2) + 1, errors = new Float64Array(n + 1).fill(0.5), ratio = 1 / odds;
    const least = n % 2 ? (1 - delta) / (odds + 1) : Math.max((1 - 2 * delta) / (2 * odds), 0);
    for (let k = start, power = 1, powers = 0; k <= n; k++) {
      errors[k] = Math.max(least * power - delta * powers, 0);
      errors[n - k] = 1 - errors[k];
      power *= ratio;
      powers += power;
    }
    return errors;
  };
  const confusion = (errors, shift) => {
    const { first, masses } = binomial(errors.length - 1, (1 + shift) / 2);
    return sum(masses.map((mass, i) => mass * errors[first + i]));
  };
  const leastExpectedGap = (n, epsilon, delta, response) => {
    const odds = oddsOf(epsilon), errors = testErrors(n, odds, delta);
    const scale = Math.max(privateShift(n, odds, delta), Math.min(0.5 / Math.sqrt(n), 1));
    let best = 0;
    for (let i = 0; i <= 32; i++) {
      const shift = Math.min(scale * 8 ** (i / 16 - 1), 1);
      best = Math.max(best, shift * confusion(errors, shift));
    }
    return response * best;
  };
  const matchingGap = (n, epsilon, delta, response) => {
    const noise = Math.min(epsilon < 700 ? 1 / Math.sinh(epsilon) : 0, delta ? 1 / (4 * delta) : Infinity);
    return response * Math.min(0.5, 1 / (2 * Math.sqrt(n)) + noise / n);
  };

  // ---------------------------------------------------------------- channels for two groups; x = e^(−ε)

  const smaller = share => Math.min(share, 1 - share);
  const unfairnessRatio = (share, p, q, kind) => {
    const spread = Math.abs(p + q - 1), reported = share * p + (1 - share) * (1 - q);
    const [above, below] = kind === "difference" ? [spread * share * (1 - share), reported * (1 - reported)]
      : [spread * smaller(share), smaller(reported)];
    return below === 0 ? 0 : above / below;
  };
  const optimalTruths = (share, x) => 2 * share <= 1 ? [1 - x / 2, 0.5] : [0.5, 1 - x / 2];
  const equallyTruthful = (share, x) => (1 + smaller(share) * (1 - x)) / 2;
  const binaryFront = (share, x, error) => { // truth probabilities of both values at the least Δ
    const large = Math.max(share, 1 - share), rest = 1 - large, truth = Math.max(1 - error, 0.5);
    const small = truth > large
      ? Math.min(0.5 + (2 * truth - 1) / (4 * rest), (large - x * truth) / (large - x * rest)) : 0.5;
    const big = (truth - rest * small) / large;
    return share >= 0.5 ? [big, small] : [small, big];
  };

  // ---------------------------------------------------------------- any channel

  const parseChannel = text => {
    // one number, or two with a comma between them: a wrong guess would change ε without a word
    const unclear = text.match(/(?<![\d.,/])\d+(?:,\d+)+(?![\d.,/])/);
    if (unclear) throw new Error(`“${unclear[0]}” may be one number or several; write 0.5 with a point, and a space between numbers`);
    const matrix = text.split(/\n/).map(line => line.trim()).filter(Boolean).map(line => line.split(/[\s,;]+/).filter(Boolean)
      .map(word => {
        if (!/^(\d+\.?\d*|\.\d+)(e[-+]?\d+)?(\/\d+\.?\d*)?$/i.test(word))
          throw new Error(`“${word}” is no probability; write numbers such as 0.25 or 1/4`);
        const [top, bottom = 1] = word.split("/").map(Number);
        return top / bottom;
      }));
    return checkChannel(matrix);
  };
  const checkChannel = matrix => {
    if (matrix.length < 2) throw new Error("type at least two rows, one for each value, with one column for each report");
    const columns = matrix[0].length;
    matrix.forEach((row, i) => {
      if (row.length !== columns) throw new Error(`row ${i + 1} has ${row.length} entries, row 1 has ${columns}`);
      const bad = row.find(q => !(q >= 0 && q <= 1));
      if (bad !== undefined) throw new Error(`row ${i + 1} has the entry ${bad}; a probability is between 0 and 1`);
      if (!(Math.abs(sum(row) - 1) <= 1e-9)) throw new Error(`row ${i + 1} sums to ${+sum(row).toPrecision(9)}, not to 1`);
    });
    if (columns !== matrix.length)
      throw new Error(`there are ${matrix.length} rows and ${columns} columns; a k×k channel has as many of each`);
    return matrix;
  };
  const reportEpsilon = (high, low) => high === 0 || high === low ? 0 : low === 0 ? Infinity
    : high / low < 2 ? Math.log1p((high - low) / low) : Math.log(high) - Math.log(low);
  const channelEpsilon = matrix => { // the worst report, and the two values that it tells apart best
    const reports = matrix[0].map((_, j) => {
      const column = matrix.map(row => row[j]), high = Math.max(...column), low = Math.min(...column);
      const likely = column.indexOf(high), unlikely = column.indexOf(low);
      return { epsilon: reportEpsilon(high, low), report: j, likely, unlikely, high, low };
    });
    return { ...reports.reduce((worst, one) => one.epsilon > worst.epsilon ? one : worst), reports };
  };

  // ---------------------------------------------------------------- output perturbation

  const noiseNormSquared = (p, zeta, kind) => {
    const x = -Math.log(zeta), close = p + 2 * Math.sqrt(p * x) + 2 * x; // Laurent and Massart's bound
    if (kind === "lemma-4.1") return 4 * p * Math.log(2 / zeta);
    return 2 * solve(y => gammaUpper(p / 2, y), zeta, 0, close / 2);
  };
  const noiseSigma = ({ lipschitz, modulus, n, epsilon, delta, noise }) =>
    (noise === "classical" ? classicalSigma : gaussianSigma)(epsilon, delta, 2 * lipschitz / (modulus * n));
  const perturbationRadius = (p, setting) => noiseSigma(setting) * Math.sqrt(noiseNormSquared(p, setting.zeta, setting.kind));
  const projectionQuantile = (zeta, slack) => solve(t => normalCdf(-t), zeta * slack, -40, 40);
  const markovReach = (sigma, zeta, slack, groups) => sigma * Math.max(projectionQuantile(zeta / groups, slack), 0);
  // how far "accuracy of a group minus that of all" can move, for each of two groups, from distances to the boundary
  const accuracyDeviation = (distances, radius, slack = 0) => {
    const changed = distances.map(group => group.filter(d => d <= radius * (1 + REACH)).length / group.length);
    const either = sum(changed.map(share => Math.min((radius === 0 ? 0 : share) + slack, 1)));
    const rows = distances[0].length + distances[1].length;
    return [distances[1].length / rows * either, distances[0].length / rows * either];
  };

  window.dpfairCalculators = {
    normalCdf, laplaceDelta, laplaceEpsilon, gaussianLogDelta, gaussianDelta, gaussianEpsilon, gaussianSigma, classicalSigma,
    expectedParityGap, gapQuantile, parityBound, leastExpectedGap, matchingGap,
    unfairnessRatio, optimalTruths, equallyTruthful, binaryFront, parseChannel, checkChannel, channelEpsilon,
    noiseSigma, perturbationRadius, projectionQuantile, markovReach, accuracyDeviation,
  };
})();

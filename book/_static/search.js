// Search in the sections of the book (search-index.js): no server, an excerpt for each page, the best pages first.
(() => {
  const STOP = new Set(("a an and are as at be by does for from has have how in is it its many much of on or our "
    + "that the this to was what when where which who why will with").split(" "));
  const GREEK = { "ε": "epsilon", "δ": "delta", "σ": "sigma", "γ": "gamma", "λ": "lambda", "∞": "infinity" };
  // where a page says what it found, and where it only lets the reader try
  const ANSWERS = /^(the answer|what is refuted|which theorem holds|install)|\?$/i, TRIES = /^(try it|solutions)/i;
  const ANSWER = 1.8, TRY = 0.5, FOUND = " Found. ";
  const K = 1.2, B = 0.5, TITLE = 8, HEADING = 3, PHRASE = 6, SHOWN = 30, EXCERPT = 240, BEFORE = 12;

  const flat = text => text.toLowerCase().replace(/[εδσγλ∞]/g, letter => ` ${GREEK[letter]} `)
    .replace(/\\varepsilon|\\epsilon/g, " epsilon ").normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  // one form of a word for its plural, its British and its American spelling
  const stem = word => word.replace(/([a-z]{2})is(e|ed|es|ing|er|ers|ation|ations)$/, "$1iz$2")
    .replace(/ies$/, "y").replace(/([^s])s$/, "$1").replace(/(?:ation|ing|ed|er|e)$/, "");
  const words = text => (flat(text).match(/[a-z0-9]+(?:\.[0-9]+)*/g) || []);
  const terms = text => words(text).map(stem);

  const count = list => list.reduce((found, term) => found.set(term, (found.get(term) || 0) + 1), new Map());
  let sections = null, mean = 1;
  const spread = new Map(); // in how many sections a term is
  const prepare = () => {
    sections = window.BOOK.flatMap(page => page.sections.map((section, at) => {
      const body = terms(section.text);
      const title = terms(page.title), heading = at ? terms(section.heading).filter(term => !STOP.has(term)) : [];
      return { page, section, at, body: count(body), title: new Set(title), heading: new Set(heading), length: body.length + 1,
               phrase: ` ${words(page.title + " . " + section.heading + " . " + section.text).join(" ")} `,
               named: ` ${words(page.title).join(" ")} ` };
    }));
    mean = sections.reduce((sum, one) => sum + one.length, 0) / sections.length;
    for (const one of sections)
      for (const term of new Set([...one.body.keys(), ...one.title, ...one.heading])) spread.set(term, (spread.get(term) || 0) + 1);
  };

  const tells = ({ at, section }) => section.text && (at ? ANSWERS.test(section.heading) : ` ${section.text}`.includes(FOUND));
  const named = (one, asked) => asked.filter(term => one.heading.has(term)).length;
  const weight = (one, asked) => TRIES.test(one.section.heading) ? TRY
    : one.section.text && (!one.at || tells(one) && (/^the answer/i.test(one.section.heading) || named(one, asked) > asked.length / 2)) ? ANSWER : 1;

  const score = (one, asked, phrase) => {
    let sum = 0, met = 0;
    for (const term of asked) {
      const rare = Math.log(1 + sections.length / (1 + (spread.get(term) || 0)));
      const times = one.body.get(term) || 0;
      let part = times * (K + 1) / (times + K * (1 - B + B * one.length / mean));
      if (one.title.has(term)) part += TITLE / (1 + Math.sqrt(one.title.size) / 2);
      if (one.heading.has(term)) part += HEADING / (1 + Math.sqrt(one.heading.size) / 2);
      if (part) met += 1;
      sum += rare * part;
    }
    sum *= (met / asked.length) ** 2;
    if (one.phrase.includes(phrase)) sum += PHRASE;
    if (one.named.includes(phrase)) sum += 4 * PHRASE;
    if (named(one, asked) === asked.length) sum += 3 * PHRASE;
    return sum * weight(one, asked);
  };

  // the pages that have at least one of the words, best first, each with its best section
  const find = query => {
    if (!sections) prepare();
    const plain = words(query), kept = plain.filter(word => !STOP.has(word));
    const asked = [...new Set((kept.length ? kept : plain).map(stem))];
    const best = new Map();
    if (!asked.length) return [];
    for (const one of sections) {
      const value = score(one, asked, ` ${plain.join(" ")} `);
      if (!value) continue;
      const so = best.get(one.page) || { value: 0, all: 0 };
      so.all += value;
      if (value > so.value) Object.assign(so, { value, one });
      best.set(one.page, so);
    }
    return [...best].map(([page, { value, all, one }]) => ({ page, section: one.section, at: one.at, value: value + 0.15 * (all - value) }))
      .sort((a, b) => b.value - a.value).map(found => ({ ...found, asked }));
  };

  // from the beginning of a sentence, or near it, the words round the place where most of what was asked for stands, marked
  const excerpt = ({ at: nth, section, page }, asked) => {
    const whole = section.text || page.title, told = tells({ at: nth, section });
    // a box "in short" answers from "Found." on
    const text = told && !nth ? whole.slice(Math.max(0, ` ${whole}`.indexOf(FOUND))) : whole;
    const parts = text.split(" "), hit = parts.map(part => terms(part).some(term => asked.includes(term)));
    const span = 36, near = hit.map((_, at) => new Set(parts.slice(at, at + span).flatMap((part, k) => hit[at + k] ? terms(part) : [])).size);
    const first = near.indexOf(Math.max(0, ...near)), early = Math.max(0, first - BEFORE);
    const begins = at => !at || /[.!?:;]$/.test(parts[at - 1]);
    const before = Array.from({ length: first - early + 1 }, (_, i) => first - i); // the nearest first
    const start = told ? 0 : before.find(begins) ?? Math.max(0, first - 3);
    const shown = document.createElement("p");
    if (start || text !== whole) shown.append("… ");
    let length = 0, at = start;
    for (; at < parts.length && length < EXCERPT; at++) {
      length += parts[at].length + 1;
      if (hit[at]) { const mark = document.createElement("mark"); mark.textContent = parts[at]; shown.append(mark, " "); }
      else shown.append(`${parts[at]} `);
    }
    if (at < parts.length) shown.append("…");
    return shown;
  };

  const show = (query, place) => {
    const found = query.trim() ? find(query) : [];
    const said = document.createElement("p"), list = document.createElement("ol");
    said.setAttribute("role", "status");
    said.textContent = !query.trim() ? "" : found.length ? `${found.length} pages found, the best first.` : "Your search did not match any page.";
    for (const { page, section, at, asked } of found.slice(0, SHOWN)) {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = page.address + (at && section.place ? `#${section.place}` : "");
      link.textContent = at ? `${page.title} › ${section.heading}` : page.title;
      item.append(link, excerpt({ at, section, page }, asked));
      list.append(item);
    }
    place.replaceChildren(said, ...(found.length ? [list] : []));
  };

  document.addEventListener("DOMContentLoaded", () => {
    const place = document.getElementById("search-results");
    const query = new URLSearchParams(location.search).get("q") || "";
    for (const field of document.querySelectorAll("input[type=search]")) field.value = query;
    if (place) show(query, place);
  });
})();

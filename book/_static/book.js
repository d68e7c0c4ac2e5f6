// What the style sheet cannot do: boxes for wide tables, formulas that fit, folds that open on paper.
(() => {
  const SMALLEST_FORMULA = 0.75; // of its own size; smaller than that, it scrolls

  const SLANT = 3; // pixels by which a slanted letter may reach out of its formula

  const LONG_NAME = 16, LONG_OPTION = 24; // characters of a function's name, and of a command's option

  const LONG = 30; // characters of a cell, from which on its words may break anywhere

  // cells of the first column: where a cell spans rows, a row begins with a cell of the second
  const markFirstColumn = table => {
    let covered = 0;
    for (const row of table.rows) {
      if (covered) { covered -= 1; continue; }
      const first = row.cells[0];
      if (!first || first.colSpan > 1) continue;
      first.classList.add("first-column");
      covered = first.rowSpan - 1;
    }
  };

  // the box scrolls sideways inside `around`, which shows a shadow where there is more; the keyboard stops at it only then
  const watched = (around, box, name, slack = 1) => {
    const tooWide = () => box.scrollWidth > box.clientWidth + slack && ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    const look = () => {
      around.classList.remove("wide");
      if (tooWide()) around.classList.add("wide");
      const scrolls = tooWide(); // a table that is marked as wide may fit by that alone
      around.classList.toggle("more", scrolls && box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
      if (!scrolls) return ["tabindex", "role", "aria-label"].forEach(attribute => box.removeAttribute(attribute));
      box.tabIndex = 0; // so that the keyboard can scroll it
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", `${name}, scrolls sideways`);
    };
    box.addEventListener("scroll", look, { passive: true });
    return look;
  };
  const wrapped = (inside, ...classes) => {
    const around = document.createElement(inside.tagName === "SPAN" ? "span" : "div");
    around.classList.add(...classes);
    inside.replaceWith(around);
    around.append(inside);
    return around;
  };

  // a long name breaks between its parts, before it breaks anywhere; in the first column it gets more room
  const breakNames = table => {
    for (const name of table.querySelectorAll("code .pre")) {
      if (name.textContent.length > LONG_NAME) name.closest("td, th").classList.add("named");
      name.innerHTML = name.innerHTML.replace(/(\w[_.(=](?=[\w"])|[a-z](?=[A-Z]))/g, "$1<wbr>");
    }
  };

  const boxed = table => {
    const box = wrapped(table, "side-scroll-box");
    markFirstColumn(table);
    breakNames(table);
    for (const cell of table.querySelectorAll("td, th")) cell.classList.toggle("long", cell.textContent.length > LONG);
    return watched(wrapped(box, "side-scroll"), box, "Table");
  };

  // a displayed formula is made smaller up to a point, and scrolls from there on; one within a line scrolls at once
  const fitted = formula => {
    const around = wrapped(formula, "side-scroll", "formula"), look = watched(around, formula, "Formula", SLANT);
    return () => {
      formula.style.fontSize = "";
      const drawn = formula.querySelector("svg"), room = around.clientWidth;
      if (!drawn || !room) return;
      // a browser may round the size of letters, so that a formula shrinks in steps
      for (let share = room / drawn.getBoundingClientRect().width; share < 1; share -= 0.02) {
        formula.style.fontSize = `${Math.max(share * 0.99, SMALLEST_FORMULA) * 100}%`;
        if (share <= SMALLEST_FORMULA || drawn.getBoundingClientRect().width <= room) break;
      }
      look();
    };
  };
  const drawn = graph => watched(wrapped(graph, "side-scroll"), graph, "Graph");
  const inLine = formula => watched(wrapped(formula, "side-scroll", "in-line"), formula, "Formula", SLANT);

  // what a link leads to may be folded away
  const unfold = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let up = place; up; up = up.parentElement) if (up.tagName === "DETAILS" && !up.open) { up.open = true; place.scrollIntoView(); }
  };

  document.addEventListener("DOMContentLoaded", async () => {
    const article = document.querySelector("article");
    if (!article) return;
    const all = selector => [...article.querySelectorAll(selector)];
    // an option such as --json is not parted after its hyphens
    for (const code of all("code .pre"))
      if (/^--?\w/.test(code.textContent) && code.textContent.length <= LONG_OPTION) code.classList.add("option");
    const looks = all("table").filter(table => !table.closest(".claim-card")).map(boxed);
    looks.push(...all(".claim-graph").map(drawn));
    const look = () => looks.forEach(one => one());
    look();
    unfold();
    window.addEventListener("hashchange", unfold);
    if (window.MathJax?.startup?.promise) await window.MathJax.startup.promise;
    const shown = all('mjx-container[display="true"]').filter(formula => !formula.closest("table"));
    looks.unshift(...shown.map(fitted), ...all("span.math").filter(one => !one.closest("table, summary")).map(inLine));
    look();
    for (const fold of all("details")) fold.addEventListener("toggle", look);
    window.addEventListener("resize", look);
    await document.fonts.ready; // letters of another width may make a table too wide
    look();
    document.documentElement.dataset.settled = "yes"; // for whoever measures the page
  });
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("article details")) fold.open = true;
  });
})();

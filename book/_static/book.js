// What the style sheet cannot do: boxes for wide tables, formulas that fit, folds that open on paper.
(() => {
  const SMALLEST_FORMULA = 0.75; // of its own size; smaller than that, it scrolls

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

  const boxed = table => {
    const around = document.createElement("div"), box = document.createElement("div");
    around.className = "side-scroll";
    box.className = "side-scroll-box";
    table.replaceWith(around);
    around.append(box);
    box.append(table);
    markFirstColumn(table);
    for (const cell of table.querySelectorAll("td, th")) cell.classList.toggle("long", cell.textContent.length > LONG);
    const look = () => {
      around.classList.remove("wide"); // a table that is marked may fit by that alone
      const wide = box.scrollWidth > box.clientWidth + 1;
      around.classList.toggle("wide", wide);
      around.classList.toggle("more", wide && box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
      if (!wide) return ["tabindex", "role", "aria-label"].forEach(name => box.removeAttribute(name));
      box.tabIndex = 0; // so that the keyboard can scroll it
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "Table, scrolls sideways");
    };
    box.addEventListener("scroll", look, { passive: true });
    return look;
  };

  const fit = formula => {
    formula.style.fontSize = "";
    const drawn = formula.querySelector("svg"), room = formula.parentElement.clientWidth;
    if (!drawn || !room) return;
    const share = room / drawn.getBoundingClientRect().width;
    if (share < 1) formula.style.fontSize = `${Math.max(share * 0.99, SMALLEST_FORMULA) * 100}%`;
    const scrolls = formula.scrollWidth > formula.clientWidth + 1;
    if (scrolls) formula.tabIndex = 0;
  };

  document.addEventListener("DOMContentLoaded", async () => {
    const article = document.querySelector("article");
    if (!article) return;
    const looks = [...article.querySelectorAll("table")].filter(table => !table.closest(".claim-card")).map(boxed);
    const look = () => looks.forEach(one => one());
    look();
    for (const fold of article.querySelectorAll("details")) fold.addEventListener("toggle", look);
    if (window.MathJax?.startup?.promise) await window.MathJax.startup.promise;
    const formulas = [...article.querySelectorAll('mjx-container[display="true"]')];
    const again = () => { formulas.forEach(fit); look(); };
    again();
    window.addEventListener("resize", again);
    document.documentElement.dataset.settled = "yes"; // for whoever measures the page
  });
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("article details")) fold.open = true;
  });
})();

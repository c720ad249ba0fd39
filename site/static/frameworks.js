// The filters of the list of frameworks. The URL keeps their state. The list is complete without this
// script, which creates the controls.

import { labelled, make } from "./dom.js";
import { choose, hasWords, keepInUrl, makeSearch, makeSelect } from "./filters.js";
import { Table } from "./table.js";

const CHOICES = new Map([["language", "Language"], ["engine", "Built on"], ["library", "Library"]]);

const element = document.getElementById("frameworks");
if (element) start(new Table(element));

function start(table) {
  const form = document.getElementById("controls");
  const q = makeSearch();
  const best = make("input", { type: "checkbox" });
  const clear = make("button", { type: "button" }, "Clear filters");
  const status = make("p", { role: "status" });
  const selects = new Map([...CHOICES.keys()].map((name) => [name, makeSelect(table.rows, name)]));
  const haystacks = new Map(table.rows.map((row) => [row, row.textContent.toLowerCase()]));

  const state = () => ({
    q: q.value.trim(),
    ...Object.fromEntries([...selects].map(([name, select]) => [name, select.value])),
    best: best.checked ? "1" : "",
  });

  const show = () => {
    const matches = hasWords(q.value);
    const count = table.filter(
      (row) =>
        [...selects].every(([name, { value }]) => !value || row.dataset[name] === value) &&
        (!best.checked || "best" in row.dataset) &&
        matches(haystacks.get(row)),
    );
    clear.disabled = !Object.values(state()).some(Boolean);
    status.textContent = `${count} of ${table.rows.length} frameworks.`;
  };

  const restore = (found) => {
    if (q.value.trim() !== (found.get("q") ?? "")) q.value = found.get("q") ?? "";
    best.checked = found.get("best") === "1";
    for (const [name, select] of selects) choose(select, found.get(name) ?? "");
    show();
  };

  const url = keepInUrl(restore, state);
  const change = () => {
    show();
    url.changed();
  };

  q.addEventListener("input", () => {
    show();
    url.typed();
  });
  for (const control of [...selects.values(), best]) control.addEventListener("change", change);
  clear.addEventListener("click", () => {
    q.value = "";
    best.checked = false;
    for (const select of selects.values()) select.value = "";
    change();
    q.focus();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.append(
    labelled("Find", q),
    ...[...selects].map(([name, select]) => labelled(CHOICES.get(name), select)),
    labelled("Best variant of each library only", best),
    clear,
    status,
  );
  form.hidden = false;
}

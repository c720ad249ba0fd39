// The filters of the list of frameworks. The URL keeps their state. The list is complete without this
// script, which creates the controls.

import { labelled, make } from "./dom.js";
import { read, write } from "./state.js";
import { Table } from "./table.js";

// Typed text enters the URL after a pause (ms): browsers limit such changes.
const PAUSE_MS = 200;
const CHOICES = new Map([["language", "Language"], ["engine", "Built on"], ["library", "Library"]]);

const element = document.getElementById("frameworks");
if (element) start(new Table(element));

function start(table) {
  const form = document.getElementById("controls");
  const q = make("input", { type: "search", autocomplete: "off", spellcheck: false });
  const best = make("input", { type: "checkbox" });
  const clear = make("button", { type: "button" }, "Clear filters");
  const status = make("p", { role: "status" });
  const selects = new Map([...CHOICES.keys()].map((name) => [name, makeSelect(table.rows, name)]));
  const haystacks = new Map(table.rows.map((row) => [row, row.textContent.toLowerCase()]));
  let typing = 0;

  const state = () => ({
    q: q.value.trim(),
    ...Object.fromEntries([...selects].map(([name, select]) => [name, select.value])),
    best: best.checked ? "1" : "",
  });

  const show = () => {
    const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const count = table.filter(
      (row) =>
        [...selects].every(([name, { value }]) => !value || row.dataset[name] === value) &&
        (!best.checked || "best" in row.dataset) &&
        words.every((word) => haystacks.get(row).includes(word)),
    );
    clear.disabled = !Object.values(state()).some(Boolean);
    status.textContent = `${count} of ${table.rows.length} frameworks.`;
  };

  const restore = () => {
    const found = read();
    if (!found) return;
    q.value = found.get("q") ?? "";
    best.checked = found.get("best") === "1";
    for (const [name, select] of selects) choose(select, found.get(name) ?? "");
    show();
  };

  const change = () => {
    clearTimeout(typing);
    show();
    write(state());
  };

  q.addEventListener("input", () => {
    show();
    clearTimeout(typing);
    typing = setTimeout(() => write(state(), { replace: true }), PAUSE_MS);
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
  addEventListener("hashchange", restore);
  show();
  restore();
}

/** Choose an option, even one that no framework has. */
function choose(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.add(new Option(value));
  select.value = value;
}

function makeSelect(rows, name) {
  const values = [...new Set(rows.map((row) => row.dataset[name]))].filter(Boolean).sort();
  return make("select", {}, new Option("all", ""), ...values.map((value) => new Option(value)));
}

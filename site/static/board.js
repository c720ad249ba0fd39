// A board's controls: sort, filter, and mark favourites. The URL keeps their state. The page is
// complete without this script, which creates the controls.

import { labelled, make } from "./dom.js";
import { choose, hasWords, keepInUrl, makeSearch, makeSelect } from "./filters.js";
import { hashOf, listed } from "./state.js";
import { Table } from "./table.js";

// The initial order of the page.
const SORT = "rank";
// Columns whose best value comes first, and others that sort the largest or newest first.
const FIGURES = new Set(["value", "median", "classic"]);
const MOST_FIRST = new Set(["packed", "loaded", "checks", "date"]);
// The orders of a board with a night of blocks: by the estimate, and by the classic figure.
const ORDERS = new Map([["estimate", SORT], ["best of three", "classic"]]);
// The maximum number of frameworks to compare.
const COMPARED = 5;

const element = document.getElementById("board");
const board = element && new Table(element);
const failed = document.getElementById("failed");
const tables = [board, failed && new Table(failed)].filter(Boolean);
const rows = tables.flatMap((table) => table.rows);
// Newer failures of rows above; each is shown with its row.
const since = document.getElementById("failed-since");
const echoes = since && new Table(since);
// Boards of engines have only one type.
const hasTypes = rows.some((row) => row.dataset.type !== "engine");
const haystacks = new Map(rows.map((row) => [row, haystackOf(row)]));

let chosen = null;
let sorted = `${SORT} asc`;

document.getElementById("static")?.remove();
const controls = makeControls();
const stars = new Map(rows.map((row) => [row, makeStar(row)]));
for (const { body } of tables) body.parentElement.classList.add("starred");
makeHeaders();
const url = keepInUrl(restore, inUrl);

/** Show a state, as the URL has it. */
function restore(found) {
  const text = (name) => found.get(name) ?? "";
  const sort = board?.columns.has(text("sort")) ? text("sort") : SORT;
  chosen = {
    sort,
    dir: text("dir") === "desc" ? "desc" : "asc",
    language: text("language"),
    type: text("type"),
    q: text("q"),
    fav: listed(text("fav")),
    only: text("only") === "fav",
  };
  show();
}

/** Change something of the state: on the page and in the URL. */
function change(changes) {
  Object.assign(chosen, changes);
  show();
  url.changed();
}

/** Return the state as the URL has it; defaults are empty. */
function inUrl() {
  const isDefault = chosen.sort === SORT && chosen.dir === "asc";
  return {
    sort: isDefault ? "" : chosen.sort,
    dir: isDefault ? "" : chosen.dir,
    language: chosen.language,
    type: chosen.type,
    q: chosen.q,
    fav: chosen.fav.join(","),
    only: chosen.only ? "fav" : "",
  };
}

function show() {
  const order = `${chosen.sort} ${chosen.dir}`;
  if (board && order !== sorted) {
    board.sort(chosen.sort, chosen.dir === "desc");
    sorted = order;
  }
  const favourites = new Set(chosen.fav);
  for (const [row, star] of stars) {
    const pressed = String(favourites.has(row.dataset.fw));
    if (star.ariaPressed === pressed) continue;
    star.ariaPressed = pressed;
    star.textContent = pressed === "true" ? "★" : "☆";
  }
  const matches = hasWords(chosen.q);
  const passes = (row) =>
    (!chosen.language || row.dataset.language === chosen.language) &&
    (!chosen.type || !hasTypes || row.dataset.type === chosen.type) &&
    (!chosen.only || favourites.has(row.dataset.fw)) &&
    matches(haystacks.get(row));
  const focused = document.activeElement;
  const count = tables.reduce((sum, table) => sum + table.filter(passes), 0);
  const left = new Set(rows.filter((row) => !row.hidden).map((row) => row.dataset.fw));
  echoes?.filter((row) => left.has(row.dataset.fw));
  // The pressed star disappears with its row if only favourites are shown.
  if (focused?.closest("tr[hidden]")) controls.only.focus();
  showControls(count);
  const hash = hashOf(inUrl());
  for (const link of document.querySelectorAll("nav.switches a")) link.hash = hash;
}

function showControls(count) {
  if (controls.q.value.trim() !== chosen.q) controls.q.value = chosen.q;
  choose(controls.language, chosen.language);
  choose(controls.type, chosen.type);
  controls.only.checked = chosen.only;
  for (const [button, key] of controls.orders) button.ariaPressed = String(chosen.sort === key);
  controls.clear.disabled = !(chosen.q || chosen.language || chosen.type || chosen.only);
  const { href } = document.querySelector("nav a[href$='compare/index.html']");
  controls.compare.href = href + hashOf({ fw: chosen.fav.slice(0, COMPARED).join(",") });
  controls.compare.hidden = chosen.fav.length < 2;
  const order = board?.columns.has(chosen.sort) ? `, sorted by ${orderWords()}` : "";
  const hint = chosen.only && !chosen.fav.length ? ". Mark favourites with ★" : "";
  controls.status.textContent = `${count} of ${rows.length} frameworks${order}${hint}.`;
}

function orderWords() {
  const { words } = board.columns.get(chosen.sort);
  return `${words}, ${chosen.dir === "desc" ? "descending" : "ascending"}`;
}

function makeControls() {
  const made = {
    q: makeSearch(),
    language: makeSelect(rows, "language"),
    type: makeSelect(rows, "type"),
    only: make("input", { type: "checkbox" }),
    orders: new Map(),
    clear: make("button", { type: "button" }, "Clear filters"),
    compare: make("a", {}, "Compare favourites"),
    status: make("p", { role: "status" }),
  };
  made.q.addEventListener("input", () => {
    chosen.q = made.q.value.trim();
    show();
    url.typed();
  });
  made.language.addEventListener("change", () => change({ language: made.language.value }));
  made.type.addEventListener("change", () => change({ type: made.type.value }));
  made.only.addEventListener("change", () => change({ only: made.only.checked }));
  made.clear.addEventListener("click", () => {
    change({ q: "", language: "", type: "", only: false });
    made.q.focus();
  });
  const form = document.getElementById("controls");
  if (board?.columns.has("classic")) form.append(makeOrders(made.orders));
  form.append(labelled("Find", made.q), labelled("Language", made.language));
  if (hasTypes) form.append(labelled("Type", made.type));
  form.append(labelled("Favourites only", made.only), made.clear, made.compare, made.status);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  return made;
}

/** Return the switch between the orders of a board; `buttons` gets the column of each button. */
function makeOrders(buttons) {
  const group = make("span", { role: "group", ariaLabel: "Order by", className: "order" }, "Order by ");
  for (const [words, key] of ORDERS) {
    const button = make("button", { type: "button" }, words);
    button.addEventListener("click", () => change({ sort: key, dir: firstDirection(key) }));
    buttons.set(button, key);
    group.append(button);
  }
  return group;
}

function makeStar(row) {
  const name = row.dataset.fw;
  const star = make("button", { type: "button", className: "star", ariaLabel: `Favourite: ${name}` });
  star.addEventListener("click", () => {
    const others = chosen.fav.filter((each) => each !== name);
    change({ fav: others.length < chosen.fav.length ? others : [...others, name] });
  });
  row.cells[0].prepend(star);
  return star;
}

function makeHeaders() {
  for (const [key, { header }] of board?.columns ?? []) {
    const button = make("button", { type: "button" }, ...header.childNodes);
    button.addEventListener("click", () => {
      const turned = chosen.dir === "asc" ? "desc" : "asc";
      change({ sort: key, dir: chosen.sort === key ? turned : firstDirection(key) });
    });
    header.append(button);
  }
}

/** Return the direction in which a column's best value, or the best ranked row, comes first. */
function firstDirection(key) {
  if (!FIGURES.has(key)) return MOST_FIRST.has(key) ? "desc" : "asc";
  const { keys } = board.columns.get(key);
  const ranks = board.columns.get(SORT).keys;
  const known = keys.filter((each, at) => each !== null && ranks[at] !== null);
  return known[0] > known.at(-1) ? "desc" : "asc";
}

function haystackOf(row) {
  const { fw, language, type } = row.dataset;
  const name = row.querySelector("th")?.textContent ?? "";
  return `${fw} ${name} ${language} ${type}`.toLowerCase();
}

// Two to five frameworks side by side, over all profiles. The URL names them:
// `#fw=grpc-go,tonic`; the others are compared with the first.

import { labelled, make, plain } from "./dom.js";
import { Figure, compared, verdictOf } from "./figures.js";
import { listed, read, write } from "./state.js";

const LEAST = 2;
const MOST = 5;

const place = document.getElementById("compare");
const root = place.dataset.root;

try {
  const answer = await fetch(place.dataset.src);
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  start(await answer.json());
} catch (error) {
  const words = `The figures could not be loaded (${error.message}). Every board still shows its own.`;
  place.prepend(make("p", { role: "alert" }, words));
}

function start({ profiles, frameworks }) {
  const byName = new Map(frameworks.map((each) => [each.name, each]));
  const { form, input, add } = makeForm(frameworks);
  const list = make("ul", { className: "chosen" });
  const status = make("p", { role: "status" });
  const result = make("div", { className: "scroll", tabIndex: 0, role: "region" });
  result.ariaLabel = "Comparison";
  let names = [];

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const found = find(input.value, frameworks);
    if (found && names.length < MOST) choose([...names, found.name]);
    else if (found) status.textContent = full();
    else if (input.value.trim()) status.textContent = `No framework is called “${input.value.trim()}”.`;
  });
  input.addEventListener("input", ({ inputType }) => {
    // Picked from the list rather than typed: add it at once.
    if (inputType === "insertReplacementText") form.requestSubmit();
  });
  addEventListener("hashchange", restore);
  place.replaceChildren(form, list, status, result);
  restore();

  function restore() {
    const state = read();
    if (state) show(listed(state.get("fw")));
  }

  function choose(chosen) {
    input.value = "";
    show(chosen);
    write({ fw: names.join(",") });
  }

  /** Show the frameworks of these names, and report those that cannot be shown. */
  function show(chosen) {
    const known = listed(chosen.join(",")).filter((name) => byName.has(name));
    const unknown = chosen.filter((name) => !byName.has(name));
    names = known.slice(0, MOST);
    const shown = names.map((name) => byName.get(name));
    list.replaceChildren(...shown.map(chip));
    add.disabled = names.length === MOST;
    const words = [];
    if (unknown.length) words.push(`Unknown: ${unknown.join(", ")}.`);
    if (known.length > MOST) words.push(`Left out: ${known.slice(MOST).join(", ")}.`);
    if (frameworks.length < LEAST) words.push("There is nothing to compare yet.");
    else if (names.length < LEAST) words.push(`Choose ${LEAST} to ${MOST} frameworks.`);
    else words.push(names.length === MOST ? full() : `Comparing ${names.length} frameworks.`);
    status.textContent = words.join(" ");
    result.hidden = names.length < LEAST;
    result.replaceChildren(...(result.hidden ? [] : [comparison(profiles, shown)]));
  }

  function full() {
    return `${MOST} frameworks is the maximum: remove one to add another.`;
  }

  function chip({ name, display_name }) {
    const remove = make("button", { type: "button", ariaLabel: `Remove ${name}` }, "×");
    remove.addEventListener("click", () => {
      choose(names.filter((each) => each !== name));
      input.focus();
    });
    return make("li", {}, isolated(display_name), " ", remove);
  }
}

function makeForm(frameworks) {
  const options = make("datalist", { id: "frameworks" });
  options.append(
    ...frameworks.map(({ name, display_name, language, type }) =>
      make("option", { value: name, label: plain(`${display_name} · ${language} · ${type}`) }),
    ),
  );
  const input = make("input", { type: "text", autocomplete: "off", spellcheck: false });
  input.setAttribute("list", options.id);
  const add = make("button", { type: "submit" }, "Add");
  return { form: make("form", {}, labelled("Framework", input), options, add), input, add };
}

/** Return the framework with this name, or the only one whose name contains the text. */
function find(text, frameworks) {
  const words = text.trim().toLowerCase();
  if (!words) return undefined;
  const namesOf = ({ name, display_name }) => [name.toLowerCase(), display_name.toLowerCase()];
  const exact = frameworks.find((each) => namesOf(each).includes(words));
  const close = frameworks.filter((each) => namesOf(each).some((name) => name.includes(words)));
  return exact ?? (close.length === 1 ? close[0] : undefined);
}

/** Return the table: a row for each profile with a figure of one of the frameworks. */
function comparison(profiles, shown) {
  const head = make("tr", {}, make("th", { scope: "col" }, "Profile"));
  head.append(...shown.map((each) => header(each)));
  const body = make("tbody");
  profiles.forEach((profile, at) => {
    const figures = shown.map(({ figures }) => figures[at] && new Figure(figures[at]));
    if (!figures.some(Boolean) && !shown.some(({ estimates }) => estimates?.[at])) return;
    const limited = new Set(shown.filter((_, column) => figures[column]?.isBound).map(({ name }) => name));
    const cells = figures.map((figure, column) => {
      const estimate = shown[column].estimates?.[at];
      const verdict = column && verdictOf(profile, shown[0].name, shown[column].name, limited);
      return cell(profile, figure, estimate, column && figures[0], verdict);
    });
    body.append(make("tr", {}, rowHeader(profile), ...cells));
  });
  return make("table", {}, make("thead", {}, head), body);
}

function header({ display_name, language, type, href }) {
  const link = make("a", { href: root + href }, isolated(display_name));
  const small = make("small", {}, isolated(language), ` · ${type}`);
  return make("th", { scope: "col", className: "num" }, link, small);
}

function rowHeader({ id, title, host, metric, lower_is_better, href, note }) {
  const better = lower_is_better ? ", lower is better" : "";
  const small = make("small", {}, `${id.split("/").slice(0, 3).join(" · ")} · ${metric}${better}`);
  const link = make("a", { href: root + href }, plain(title));
  const notes = [host, note].filter(Boolean).map((each) => make("small", {}, plain(each)));
  return make("th", { scope: "row" }, link, small, ...notes);
}

/**
 * Return a figure's cell. It has the estimate of a night of blocks, if there is one; `first` is the
 * figure to compare with, if there is one, and `verdict` what the night says of the two.
 */
function cell(profile, figure, estimate, first, verdict) {
  if (!figure && !estimate) return make("td", { className: "num" }, "–");
  const [words, interval] = estimate ?? [figure.words, figure.interval];
  const parts = [make("b", {}, figure ? make("a", { href: root + figure.href }, words) : words)];
  if (interval) parts.push(make("small", {}, interval));
  const about = estimate || profile.pairs ? "best of three: " : "";
  if (verdict) parts.push(ratio(verdict));
  else if (first && figure) parts.push(ratio(compared(first, figure, profile), about));
  if (figure?.flags.length) parts.push(make("small", {}, figure.flags.join(", ")));
  return make("td", { className: "num" }, ...parts);
}

function ratio({ words, interval, verdict }, about = "") {
  const range = interval ? ` (${interval})` : "";
  const tail = verdict ? `, ${verdict}` : "";
  return make("small", { className: "ratio" }, about + words + range + tail);
}

/** Return other people's text, isolated from the direction of the text around it. */
function isolated(text) {
  return make("bdi", {}, plain(text));
}

// What the filters of tables share: their controls, and their state in the URL.

import { make } from "./dom.js";
import { hashOf, read, write } from "./state.js";
import { COLLATOR } from "./table.js";

// Typed text enters the URL after a pause (ms): browsers limit such changes.
const PAUSE_MS = 200;

/**
 * Keep the state of a page in the URL. `restore` shows a state that the URL has, names to texts, and
 * `state` returns the one that is shown. Call `changed` after a change, or `typed` after a key.
 */
export function keepInUrl(restore, state) {
  let typing = 0;
  let isShown = false;
  const show = () => {
    const found = read();
    if (!found && isShown) {
      // An anchor is no state: afterwards the state is written again.
      if (hashOf(state())) write(state(), { replace: true });
      return;
    }
    clearTimeout(typing);
    isShown = true;
    restore(found ?? new Map());
  };
  addEventListener("hashchange", show);
  show();
  return {
    changed() {
      clearTimeout(typing);
      write(state());
    },
    typed() {
      clearTimeout(typing);
      typing = setTimeout(() => write(state(), { replace: true }), PAUSE_MS);
    },
  };
}

/** Return a test of whether a text has all these words. */
export function hasWords(typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.includes(word));
}

export function makeSearch() {
  return make("input", { type: "search", autocomplete: "off", spellcheck: false });
}

/** Return a choice of the values that rows have. */
export function makeSelect(rows, name) {
  const values = new Set(rows.map((row) => row.dataset[name]).filter(Boolean));
  const options = [...values].sort(COLLATOR.compare).map((value) => new Option(value));
  return make("select", {}, new Option("all", ""), ...options);
}

/** Choose an option, even one that no row has. */
export function choose(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.add(new Option(value));
  select.value = value;
}

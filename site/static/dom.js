// Elements made from data. Text stays text: nothing here parses markup.

const LONGEST = 120;

/** Return a new element with these properties (`className`, `ariaLabel` …) and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Return a control with its label: before it, or after a checkbox. */
export function labelled(words, control) {
  const parts = control.type === "checkbox" ? [control, " ", words] : [words, " ", control];
  return make("label", {}, ...parts);
}

/** Return other people's text for display: without control characters, and shortened. */
export function plain(text) {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim().slice(0, LONGEST);
}

// Elements made of data. Text is only ever text: nothing here reads markup.

const LONGEST = 120;

/** Return a new element with these properties (`className`, `ariaLabel` …) and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Return a labelled control: the label's words stand before it, a checkbox's after it. */
export function labelled(words, control) {
  const parts = control.type === "checkbox" ? [control, " ", words] : [words, " ", control];
  return make("label", {}, ...parts);
}

/** Return other people's words to be shown: without what controls text, and not too long. */
export function plain(text) {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim().slice(0, LONGEST);
}

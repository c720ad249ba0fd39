// A table that sorts and filters. Its cells are read once; after that only rows move.

export const COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const EMPTY = new Set(["", "–"]);
// More rows than any screen has.
const AT_ONCE = 60;

/** The rows of a table's first body, and the columns whose headers have a `data-key`. */
export class Table {
  constructor(element) {
    this.body = element.tBodies[0];
    this.rows = [...this.body.rows];
    this.columns = new Map();
    for (const header of element.tHead?.querySelectorAll("th[data-key]") ?? []) {
      const cells = this.rows.map((row) => row.cells[header.cellIndex]);
      const words = header.textContent.trim().replace(/\s+/g, " ");
      this.columns.set(header.dataset.key, { header, words, keys: keysOf(cells) });
    }
  }

  /**
   * Order the rows by a column. Equal rows keep the page's initial order, and rows without a value
   * are last in both directions.
   */
  sort(key, descending) {
    const { keys } = this.columns.get(key);
    const sign = descending ? -1 : 1;
    const order = [...this.rows.keys()].sort((a, b) => {
      if (keys[a] === null || keys[b] === null) return (keys[a] === null) - (keys[b] === null);
      return sign * compared(keys[a], keys[b]);
    });
    const rows = order.map((at) => this.rows[at]);
    if (this.#canDefer()) this.#defer(rows.filter((row) => !row.hidden).slice(AT_ONCE));
    const sorted = document.createDocumentFragment();
    sorted.append(...rows);
    this.body.append(sorted);
    for (const [name, { header }] of this.columns) {
      header.ariaSort = name !== key ? "none" : descending ? "descending" : "ascending";
    }
  }

  /** Return whether no row is above the screen. Call it first: it forces a layout. */
  #canDefer() {
    return this.rows.length > AT_ONCE && this.body.getBoundingClientRect().top >= 0;
  }

  /** Hide rows below the screen for one frame: a browser lays out every row that has moved. */
  #defer(rows) {
    for (const row of rows) row.style.display = "none";
    requestAnimationFrame(() =>
      setTimeout(() => {
        for (const row of rows) row.style.display = "";
      }),
    );
  }

  /** Show the rows that pass the test, hide the others; return how many are shown. */
  filter(passes) {
    const canDefer = this.#canDefer();
    const shown = [];
    const appear = [];
    for (const row of [...this.body.rows]) {
      const hide = !passes(row);
      if (!hide && shown.push(row) > AT_ONCE && row.hidden) appear.push(row);
      row.hidden = hide;
    }
    if (canDefer) this.#defer(appear);
    return shown.length;
  }
}

/** Return the cells' sort keys: numbers if every cell has one, else texts; null for no value. */
function keysOf(cells) {
  const texts = cells.map((cell) => (cell?.dataset.v ?? cell?.textContent ?? "").trim());
  const numbers = texts.map((text) => (EMPTY.has(text) ? null : Number(text)));
  if (!numbers.some(Number.isNaN)) return numbers;
  return texts.map((text) => (EMPTY.has(text) ? null : text));
}

function compared(a, b) {
  return typeof a === "number" ? a - b : COLLATOR.compare(a, b);
}

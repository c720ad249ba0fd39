// Figures of frameworks, and the comparison of two.

/**
 * One framework's figure under one profile, with its interval from `low` to `high`. `words` and
 * `interval` are both as the boards show them.
 */
export class Figure {
  constructor([value, low, high, flags, href, words, interval, isComparable]) {
    Object.assign(this, { value, low, high, href, words, interval, isComparable });
    this.flags = flags.split(",").filter(Boolean);
    this.isBound = this.flags.includes("client-bound");
  }
}

/**
 * Compare a figure with the first one: in words, with the interval of the ratio and a verdict.
 *
 * Overlapping intervals mean no difference. Otherwise the ratio lies between the least and the most
 * that both allow. A server that the generator limited may be faster, so a lead over it is not
 * certain. A figure without a rank cannot be compared.
 */
export function compared(first, other, { lower_is_better }) {
  if (!first.isComparable || !other.isComparable) return { words: "not comparable" };
  if (first.low <= other.high && other.low <= first.high) return { words: "no difference" };
  const isMore = other.low > first.high;
  const slower = isMore === lower_is_better ? other : first;
  const verdict = slower.isBound
    ? "limited by the generator"
    : isMore === lower_is_better ? "worse" : "better";
  const least = digits(other.low / first.high);
  const most = digits(other.high / first.low);
  if (!first.value) return { words: `over × ${least}`, verdict };
  if (!other.value) return { words: `under × ${most}`, verdict };
  const mark = first.isBound === other.isBound ? "" : first.isBound ? "≤ " : "≥ ";
  const known = least === most ? "" : `${least} – ${most}`;
  const interval = first.low ? known : `from ${least}`;
  return { words: `${mark}× ${digits(other.value / first.value)}`, interval, verdict };
}

/** Return a number with three significant digits, two of them if it is small. */
function digits(value) {
  if (value < 0.0995) return String(Number(value.toPrecision(2)));
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

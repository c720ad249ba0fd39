// Figures of frameworks, and the comparison of two.

const APART = "not told apart";

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
 * The ratio lies between the least and the most that both intervals allow. If they overlap, the two
 * are not told apart: that does not mean that they are equal. A server that the generator limited
 * may be faster, so a lead over it is not certain. A figure without a rank cannot be compared.
 */
export function compared(first, other, { lower_is_better }) {
  if (!first.isComparable || !other.isComparable) return { words: "not comparable" };
  if (first.low <= other.high && other.low <= first.high) {
    if (first.isBound || other.isBound) return { words: APART, verdict: "limited by the generator" };
    return { words: APART, interval: times(other.low / first.high, other.high / first.low, digits) };
  }
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

/**
 * Return what the night of a load says of two frameworks, as `compared` does; undefined if it has
 * no blocks in common. The verdicts were made with the page: here they are looked up.
 */
export function verdictOf({ pairs }, first, other, limited) {
  const found = pairs?.[first]?.[other] ?? reversed(pairs?.[other]?.[first]);
  if (!found) return undefined;
  const [verdict, ratio, low, high, blocks] = found;
  const by = `by ${blocks} blocks`;
  if (ratio === null) return { words: verdict };
  if (verdict === APART) return { words: verdict, interval: times(low, high, close), verdict: by };
  const interval = `${close(low)} – ${close(high)}`;
  const slower = verdict === "faster" ? first : other;
  const better = verdict === "faster" ? "better" : "worse";
  const words = limited.has(slower) ? "limited by the generator" : better;
  return { words: `× ${close(ratio)}`, interval, verdict: `${words}, ${by}` };
}

/** Return the verdict on A against B, from that on B against A. */
function reversed(pair) {
  if (!pair) return undefined;
  const [verdict, ratio, low, high, blocks] = pair;
  const turned = { faster: "slower", slower: "faster" }[verdict] ?? verdict;
  return ratio === null ? pair : [turned, 1 / ratio, 1 / high, 1 / low, blocks];
}

/** Return an interval of ratios: `0.97–1.55 ×`. It may have no end, if a figure has no least. */
function times(low, high, words) {
  if (!Number.isFinite(high)) return `from ${words(low || 0)} ×`;
  return low === high ? `${words(low)} ×` : `${words(low)}–${words(high)} ×`;
}

/** Return a ratio with three digits; near 1 it has three decimals. */
function close(value) {
  return value > 0.9 && value < 1.1 ? value.toFixed(3) : digits(value);
}

/** Return a number with three significant digits, two of them if it is small. */
function digits(value) {
  if (value < 0.0995) return String(Number(value.toPrecision(2)));
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

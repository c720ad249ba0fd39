// The state of a page's controls. It lives only in the URL's hash, like `#sort=p99&fav=a,b`: a link
// holds all of it, and nothing is stored. A hash without `=` is an anchor, not a state.

/** Return the state in the URL, names to texts; null if the hash is an anchor. */
export function read() {
  const text = location.hash.slice(1);
  if (text && !text.includes("=")) return null;
  const pairs = text.split("&").map((part) => part.split("=", 2));
  return new Map(pairs.map(([name, value = ""]) => [name, decoded(value)]));
}

/** Return the hash of a state without its empty parts; an empty text if all are empty. */
export function hashOf(state) {
  const parts = Object.entries(state)
    .filter(([, text]) => text)
    .map(([name, text]) => `${name}=${encoded(text)}`);
  return parts.length ? `#${parts.join("&")}` : "";
}

/** Put a state into the URL: as a new step of the history, or in place of the current one. */
export function write(state, { replace = false } = {}) {
  const url = location.pathname + location.search + hashOf(state);
  if (url === location.pathname + location.search + location.hash) return;
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
}

/** Return the parts of a list like `a,b`, each once. */
export function listed(text = "") {
  return [...new Set(text.split(",").filter(Boolean))];
}

function encoded(text) {
  return encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%20", "+");
}

// A typed address may be malformed.
function decoded(text) {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

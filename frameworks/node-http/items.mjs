// The service of items and its store.

import { randomUUID } from "node:crypto";

// The longest request body, in bytes.
const MAX_BODY = 64 << 10;

const ITEMS = "/v1/items";
const KNOWN = ["owner", "sku"];

const items = new Map();
const utf8 = new TextDecoder("utf-8", { fatal: true });

const onItems = { POST: create };
const onItem = { GET: read, HEAD: read, PATCH: change, DELETE: remove };

/** Answers a request, of either version of HTTP. */
export function handle(request, response) {
  const path = request.url.split("?", 1)[0];
  const isItem = path.startsWith(`${ITEMS}/`) && path.length > ITEMS.length + 1;
  const methods = path === ITEMS ? onItems : isItem ? onItem : undefined;
  const act = methods?.[request.method];
  if (act === create || act === change) {
    withValues(request, response, (values) => act(request, response, path, values));
    return;
  }
  request.resume();
  if (act) act(request, response, path);
  else if (methods) {
    response.setHeader("allow", Object.keys(methods).join(", "));
    fail(response, 405, "the path does not know this method");
  } else fail(response, 404, "there is nothing at this path");
}

function create(_request, response, _path, values) {
  const item = { id: randomUUID(), ...values, rev: 1 };
  const path = `${ITEMS}/${item.id}`;
  items.set(path, item);
  response.setHeader("location", path);
  send(response, 201, { item });
}

function read(_request, response, path) {
  const item = items.get(path);
  if (item) send(response, 200, { item });
  else fail(response, 404, "there is no such item");
}

function change(request, response, path, values) {
  const item = find(request, response, path);
  if (!item) return;
  Object.assign(item, values);
  item.rev++;
  response.writeHead(204).end();
}

function remove(request, response, path) {
  if (!find(request, response, path)) return;
  items.delete(path);
  response.writeHead(204).end();
}

/** Returns the item of a request with the revision that is asked for; else it is answered. */
function find(request, response, path) {
  const item = items.get(path);
  const match = request.headers["if-match"];
  if (!item) fail(response, 404, "there is no such item");
  else if (match === undefined || match === "*" || match === `"${item.rev}"`) return item;
  else fail(response, 412, "the item has another revision");
  return undefined;
}

/** Reads a request's JSON, and passes on its values; if it is none, it is answered. */
function withValues(request, response, act) {
  let parts = [];
  let size = 0;
  request.on("data", (part) => {
    size += part.length;
    if (size <= MAX_BODY) parts.push(part);
    else parts = [];
  });
  request.on("end", () => {
    if (size > MAX_BODY) {
      fail(response, 413, `a body may have ${MAX_BODY} bytes`);
      return;
    }
    const values = valuesOf(parts);
    if (values) act(values);
    else fail(response, 400, "the body is no JSON of an item");
  });
}

function valuesOf(parts) {
  let sent;
  try {
    sent = JSON.parse(utf8.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts)));
  } catch {
    return undefined;
  }
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) return undefined;
  const values = {};
  for (const name of KNOWN) {
    if (sent[name] === undefined) continue;
    if (typeof sent[name] !== "string") return undefined;
    values[name] = sent[name];
  }
  return values;
}

function fail(response, status, error) {
  send(response, status, { error });
}

function send(response, status, body) {
  const text = JSON.stringify(body);
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", Buffer.byteLength(text));
  response.writeHead(status).end(text);
}

// The text of a file: what it says, and the smallest change that makes it say something else. Comments, the order of
// keys, and how values are written stay.
import { isCollection, isMap, isPair, isScalar, isSeq, Lexer, parseDocument, stringify, visit } from 'yaml'

// More than this makes a form slow.
const LARGEST = 100_000
const MOST_VALUES = 3_000

// Line ends as a browser's text field has them, and what they were.
export function unpacked (raw) {
  const bom = raw.startsWith('\uFEFF') ? '\uFEFF' : ''
  const body = raw.slice(bom.length)
  const text = body.replaceAll(/\r\n?/g, '\n')
  const end = body.includes('\r\n') ? '\r\n' : '\n'
  const isMixed = text.replaceAll('\n', end) !== body
  return { bom, end, isMixed, text }
}

export function packed (text, { bom, end }) {
  return bom + text.replaceAll('\n', end)
}

// Whether a text is JSON, whatever its file is called.
export function isJson (text) {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

// Numbers keep their digits.
const customTags = (tags) => tags.map((tag) =>
  /:(int|float)$/.test(tag.tag) ? { ...tag, stringify: (item) => item.source ?? tag.stringify(item) } : tag)

const parsed = (text) => parseDocument(text, { customTags, prettyErrors: false, lineCounter: undefined })

const lineOf = (text, offset) => text.slice(0, offset).split('\n').length

// What a text says; or why the form cannot show it.
export function read (text) {
  if (text.length > LARGEST) return { problem: 'The file is too large for the form.' }
  const document = parsed(text)
  const [error] = document.errors
  if (error) return { problem: `Line ${lineOf(text, error.pos[0])}: ${error.message}` }
  let found
  let values = 0
  const note = (what, node) => {
    found ??= `The file uses ${what} (line ${lineOf(text, node.range?.[0] ?? 0)}), which the form cannot keep.`
    return visit.BREAK
  }
  visit(document, {
    Alias: (_, node) => note('an alias', node),
    Pair: (_, pair) => {
      if (!isScalar(pair.key)) return note('a key that is no text', pair.key ?? pair)
      if (pair.key.value === '<<') return note('a merge key', pair.key)
    },
    Node: (_, node) => {
      values += 1
      if (node.anchor) return note('an anchor', node)
      if (node.tag) return note('a tag', node)
    }
  })
  if (found) return { problem: found }
  if (values > MOST_VALUES) return { problem: 'The file is too large for the form.' }
  if (document.contents === null || document.contents.value === null) return { value: {} }
  if (!isMap(document.contents)) return { problem: 'The file is no map.' }
  return { value: document.toJS() }
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

export function same (a, b) {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, at) => same(each, b[at]))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
}

const pairOf = (map, key) => map.items.find((pair) => String(pair.key?.value ?? pair.key) === key)

// The text in which a value is another one. `renames` come first: the keys to a map, and the old and the new name there.
export function edited (text, isJson, before, after, renames = []) {
  const document = parsed(text)
  marked(document.contents, text.length)
  for (const [keys, from, to] of renames) {
    renameIn(document, keys, from, to)
    before = renamed(before, keys, from, to)
  }
  document.contents = changed(document, document.contents, before, after)
  if (isJson) return `${json(document.contents, text, '')}\n`
  const plain = document.toString(styleOf(text))
  return kept(document.contents, text, plain)
}

function renameIn (document, keys, from, to) {
  const holder = keys.reduce((node, key) => (isMap(node) ? pairOf(node, key)?.value : node?.items?.[key]), document.contents)
  const pair = isMap(holder) && pairOf(holder, from)
  if (!pair) return
  pair.key.value = to
  delete pair.key.source
  delete pair.key.range
}

function renamed (value, [key, ...rest], from, to) {
  const pairs = Object.entries(value)
  if (key === undefined) return Object.fromEntries(pairs.map(([name, each]) => [name === from ? to : name, each]))
  if (Array.isArray(value)) return value.with(key, renamed(value[key], rest, from, to))
  return Object.fromEntries(pairs.map(([name, each]) => [name, name === key ? renamed(each, rest, from, to) : each]))
}

// The node that says `after` instead of `before`; as far as it can, the same node.
function changed (document, node, before, after) {
  if (same(before, after)) return node
  // What is added to an empty one, `{}` or `[]`, stands on lines of its own where it can.
  if (isCollection(node) && node.items.length === 0) node.flow = false
  if (isMap(node) && isObject(before) && isObject(after)) {
    const items = node.items.filter(({ key }) => !gone(String(key?.value ?? key), before, after))
    if (items.length < node.items.length) unranged(node)
    node.items = items
    for (const [key, value] of Object.entries(after)) {
      const pair = pairOf(node, key)
      if (!pair) node.items.push(document.createPair(key, value))
      else if (Object.hasOwn(before, key)) pair.value = changed(document, pair.value, before[key], value)
      else pair.value = fresh(document, pair.value, value)
    }
    return node
  }
  if (isSeq(node) && Array.isArray(before) && Array.isArray(after) && node.items.length === before.length) {
    unranged(node)
    const [first] = node.items
    if (first && node.commentBefore) {
      // A comment in front of the first item is its own.
      first.commentBefore = node.commentBefore
      delete node.commentBefore
    }
    node.items = matched(document, node.items, before, after)
    return node
  }
  if (isScalar(node) && typeof after !== 'object') {
    // What was quoted because it had to be is quoted no longer than that.
    if (/^["']/.test(stringify(node.value))) delete node.type
    node.value = after
    delete node.source
    unranged(node)
    return node
  }
  return fresh(document, node, after)
}

// Its text is no longer what it was.
function unranged (node) {
  node.was ??= node.range
  delete node.range
}

const gone = (key, before, after) => Object.hasOwn(before, key) && !Object.hasOwn(after, key)

// Items of a list. One that moves takes its comments along.
function matched (document, items, before, after) {
  const rest = new Set(before.keys())
  const take = (at) => rest.delete(at) && at
  const places = after.map((value, at) => at < before.length && same(before[at], value) ? take(at) : undefined)
  after.forEach((value, at) => {
    places[at] ??= [...rest].find((place) => same(before[place], value))
    rest.delete(places[at])
  })
  // What changed without moving.
  after.forEach((_, at) => {
    if (places[at] === undefined && after.length === before.length && rest.has(at)) places[at] = take(at)
  })
  return after.map((value, at) => {
    const place = places[at]
    return place === undefined ? document.createNode(value) : changed(document, items[place], before[place], value)
  })
}

function fresh (document, old, value) {
  const node = document.createNode(value)
  for (const name of ['commentBefore', 'comment', 'spaceBefore']) if (old?.[name]) node[name] = old[name]
  return node
}

// How the text is laid out.
function styleOf (text) {
  const indent = /^[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\n( +)[^\s#-]/m.exec(text)?.[1].length ?? 2
  const isFlat = /^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\n\1- /m.test(text)
  const count = (pattern) => text.match(pattern)?.length ?? 0
  return {
    indent,
    indentSeq: !isFlat,
    lineWidth: 0,
    flowCollectionPadding: count(/[{[] +\S/g) > count(/[{[][^\s\]}]/g)
  }
}

// Notes for each key and item of a block where it stands, up to the next one.
function marked (node, end) {
  if (!isCollection(node) || node.flow) return
  const starts = node.items.map((item) => (isMap(node) ? item.key : item)?.range?.[0])
  node.items.forEach((item, at) => {
    const [from, to] = [starts[at], starts.slice(at + 1).find((start) => start !== undefined) ?? end]
    if (from === undefined || item === null) return
    item.origin = { from, to }
    marked(isMap(node) ? item.value : item, to)
  })
}

// Whether a key or an item says what it said, in all that is in it.
function isUntouched (item) {
  if (isPair(item)) return item.key.range !== undefined && (item.value === null || isUntouched(item.value))
  if (isCollection(item)) return item.range !== undefined && item.items.every(isUntouched)
  return item === null || item.range !== undefined
}

// The new text, with the old layout wherever nothing has changed.
function kept (node, old, plain) {
  const made = parsed(plain)
  marked(made.contents, plain.length)
  const parts = []
  const column = (text, at) => at - (text.lastIndexOf('\n', at - 1) + 1)
  // The end of what belongs to an item. What follows it is its own, too, if that is what followed before.
  const end = (text, { from, to }, isFollowed) => (isFollowed ? to : from + text.slice(from, to).trimEnd().length)
  const walk = (was, is) => {
    if (!isCollection(was) || !isCollection(is) || was.flow || was.items.length !== is.items.length) return
    was.items.forEach((item, at) => {
      const [from, to] = [item?.origin, is.items[at]?.origin]
      if (!from || !to || column(old, from.from) !== column(plain, to.from)) return
      const next = was.items[at + 1]
      const isFollowed = next ? next.origin?.from === from.to : from.to === old.length && to.to === plain.length
      const text = old.slice(from.from, end(old, from, isFollowed))
      const place = [to.from, end(plain, to, isFollowed)]
      const [before, after] = isMap(was) ? [item.value, is.items[at].value] : [item, is.items[at]]
      if (isUntouched(item)) parts.push([...place, text])
      else if (isLine(old, before?.was) && isLine(plain, after.range)) {
        const [begin, finish] = before.was.map((offset) => offset - from.from)
        parts.push([...place, text.slice(0, begin) + plain.slice(after.range[0], after.range[1]) + text.slice(finish)])
      } else walk(before, after)
    })
  }
  walk(node, made.contents)
  const text = parts.reduceRight((text, [from, to, part]) => text.slice(0, from) + part + text.slice(to), plain)
  const again = parsed(text)
  const isGood = again.errors.length === 0 && same(again.toJS(), made.toJS()) && same(comments(text), comments(plain))
  return isGood ? text : plain
}

// Whether a value stands on one line.
const isLine = (text, range) => range !== undefined && range[0] < range[1] && !text.slice(range[0], range[1]).includes('\n')

const comments = (text) => [...new Lexer().lex(text)].filter((token) => token.startsWith('#')).sort()

// JSON, on one line or several as it was.
function json (node, text, indent) {
  if (!isCollection(node)) return node.range ? text.slice(node.range[0], node.range[1]) : JSON.stringify(node.toJSON())
  const [open, close] = isMap(node) ? '{}' : '[]'
  if (node.items.length === 0) return open + close
  const range = node.range ?? node.was
  const was = range && text.slice(range[0], range[1])
  const isOpen = was ? was.includes('\n') : node.items.some((item) => isCollection(isMap(node) ? item.value : item))
  const step = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
  const inner = isOpen ? indent + step : indent
  const items = node.items.map((item) => {
    if (!isMap(node)) return json(item, text, inner)
    return `${JSON.stringify(String(item.key.value ?? item.key))}: ${json(item.value, text, inner)}`
  })
  if (!isOpen) return `${open}${items.join(', ')}${close}`
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`
}

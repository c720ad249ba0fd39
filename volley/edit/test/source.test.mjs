import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { parseDocument } from 'yaml'
import { edited, isJson, packed, read, unpacked } from '../src/source.js'

const SHOP = readFileSync(new URL('../../examples/shop.yaml', import.meta.url), 'utf8')

// What becomes of a text if its value is changed by a function.
function change (text, by, { isJson = false, renames = [] } = {}) {
  const { value, problem } = read(text)
  assert.equal(problem, undefined)
  const after = structuredClone(value)
  by(after)
  return edited(text, isJson, value, after, renames)
}

// The lines that two texts do not share: the old ones, and the new ones.
function difference (old, now) {
  const [a, b] = [old.split('\n'), now.split('\n')]
  return [a.filter((line) => !b.includes(line)), b.filter((line) => !a.includes(line))]
}

test('JSON is known by its text', () => {
  for (const text of ['{}', ' {"a": [1]}\n']) assert.ok(isJson(text), text)
  for (const text of ['', 'null', '[]', '{a: 1}', 'a: 1']) assert.ok(!isJson(text), text)
})

test('a value changes in its line, and no other line does', () => {
  const now = change(SHOP, (file) => { file.scenarios.crud.weight = 70 })
  assert.deepEqual(difference(SHOP, now), [['    weight: 80'], ['    weight: 70']])
})

test('new keys and items come last, and a removed one takes nothing else along', () => {
  const now = change(SHOP, (file) => {
    file.scenarios.crud.steps.push({ get: '${api}/', expect: { status: 200 } })
    file.tags = { team: 'shop' }
    delete file.limits
  })
  const [gone, added] = difference(SHOP, now)
  assert.deepEqual(gone, ['limits: {iterations_open: 2000, when_full: drop, drain: 5s}'])
  assert.deepEqual(added, [
    '      - get: ${api}/', '        expect:', '          status: 200', 'tags:', '  team: shop'
  ])
})

test('what nothing has changed keeps its layout, whatever that is', () => {
  const text = [
    '# first', 'a:   1   # one', 'b: {', '  x: 1,', '  y:   "two"', '}', '', '', 'c:', '    - 1', '    -   2   # two',
    'd: >-', '  folded', '  text', 'e: 0x1F', 'f: 1.10', 'g: 123456789012345678901234567890', "h: 'q'", '# last', ''
  ].join('\n')
  const now = change(text, (file) => { file.h = 'r' })
  assert.equal(now, text.replace("'q'", "'r'"))
})

test('an item that moves takes its comments along', () => {
  const text = 'steps:\n  # one\n  - name: a\n    get: x # here\n  # two\n  - name: b\n'
  const now = change(text, (file) => { file.steps.reverse() })
  assert.equal(now, 'steps:\n  # two\n  - name: b\n  # one\n  - name: a\n    get: x # here\n')
})

test('a name changes in its place, with its comments', () => {
  const text = 'scenarios:\n  # the first\n  a: {weight: 1} # so\n  b: {weight: 2}\n'
  const { value } = read(text)
  const after = { scenarios: { c: { weight: 1 }, b: { weight: 3 } } }
  const now = edited(text, false, value, after, [[['scenarios'], 'a', 'c']])
  assert.equal(now, 'scenarios:\n  # the first\n  c: {weight: 1} # so\n  b: {weight: 3}\n')
})

test('keys that the form does not know stay', () => {
  const text = 'targets: {a: x}\nunknown: [1, 2]\nhttp: {pots: 4}\n'
  const before = { targets: { a: 'x' }, http: {} }
  const now = edited(text, false, before, { targets: { a: 'y' }, http: { version: 2 } })
  assert.equal(now, 'targets: {a: y}\nunknown: [1, 2]\nhttp: {pots: 4, version: 2}\n')
})

test('values are quoted where they must be', () => {
  for (const value of ['true', '1', '', ' x', 'a: b', '#', '- x', '${a}', '{', '"', "'", 'é\n\ty', '<b>', '0o17', 'null', '~', '*a', '&a', '!t']) {
    for (const text of ['a: x\n', 'a: "x"\n', "a: 'x'\n", '{a: x}\n', 'a: [x]\n', 'a:\n  - x\n']) {
      const isList = Array.isArray(read(text).value.a)
      const now = change(text, (file) => { file.a = isList ? [value] : value })
      assert.deepEqual(read(now).value.a, isList ? [value] : value, `${text} ${now}`)
    }
  }
})

test('an empty file becomes a map', () => {
  for (const text of ['', '# only this\n', 'null\n', '{}\n']) {
    const now = change(text, (file) => { file.targets = { api: 'http://a:1' } })
    assert.deepEqual(read(now).value, { targets: { api: 'http://a:1' } })
    assert.equal(now.includes('# only this'), text.includes('#'))
  }
})

test('what was empty fills as if it had been written by hand', () => {
  let text = 'a: [1]\nb: {c: []}\n'
  text = change(text, (file) => { file.a = [] })
  text = change(text, (file) => { file.a.push({}) })
  text = change(text, (file) => { file.a[0].name = '' })
  text = change(text, (file) => { file.a[0].name = 'x' })
  text = change(text, (file) => { file.b.c.push(2) })
  assert.equal(text, 'a:\n  - name: x\nb: {c: [2]}\n')
})

test('a text that is typed key by key ends without quotes that it does not need', () => {
  let text = 'a: ""\n'
  for (let length = 1; length <= 'http://h:1'.length; length += 1) {
    text = change(text, (file) => { file.a = 'http://h:1'.slice(0, length) })
  }
  assert.equal(text, 'a: http://h:1\n')
  assert.equal(change('a: "x"\n', (file) => { file.a = 'y' }), 'a: "y"\n')
})

test('JSON stays JSON, with its layout and its numbers', () => {
  const text = '{\n\t"a": {"x": 1.10, "y": ["\\u00e4\\/"]},\n\t"b": [\n\t\t1,\n\t\t2\n\t]\n}\n'
  const now = change(text, (file) => {
    file.a.z = true
    file.b.push({ c: [null] })
  }, { isJson: true })
  assert.equal(now, '{\n\t"a": {"x": 1.10, "y": ["\\u00e4\\/"], "z": true},\n\t"b": [\n\t\t1,\n\t\t2,\n\t\t{\n\t\t\t"c": [null]\n\t\t}\n\t]\n}\n')
})

test('what the form cannot keep is named with its line', () => {
  for (const [text, word] of [
    ['a: 1\nb: &x 2\n', 'an anchor (line 2)'],
    ['a: &x {b: 1}\nc: *x\n', 'an anchor (line 1)'],
    ['a: {<<: {b: 1}}\n', 'a merge key (line 1)'],
    ['a: !!str 1\n', 'a tag (line 1)'],
    ['? [a]\n: 1\n', 'a key that is no text (line 1)'],
    ['a: 1\na: 2\n', 'Line 2: '],
    ['a: 1\n\tb: 2\n', 'Line 2: '],
    ['a: [\n', 'Line 2: '],
    ['a: 1\n---\nb: 2\n', 'Line 2: '],
    ['- 1\n', 'no map'],
    [`a: "${'x'.repeat(300_000)}"\n`, 'too large'],
    [`a: [${'1, '.repeat(5_000)}1]\n`, 'too large']
  ]) {
    const { value, problem } = read(text)
    assert.equal(value, undefined)
    assert.ok(problem.includes(word), problem)
  }
})

test('line ends and a byte order mark stay', () => {
  for (const raw of ['a: 1\n', 'a: 1\r\nb: 2\r\n', '\uFEFFa: 1\r\n', '\uFEFFa: 1\n']) {
    const source = unpacked(raw)
    assert.equal(source.isMixed, false)
    assert.equal(packed(source.text, source), raw)
    assert.ok(!source.text.includes('\r'))
  }
  assert.equal(unpacked('a: 1\r\nb: 2\n').isMixed, true)
})

test('any change of any key says what it should, and keeps all comments', () => {
  const { value } = read(SHOP)
  const count = (text) => text.match(/#/g).length
  const walk = (node, path) => {
    if (typeof node !== 'object' || node === null) return
    for (const key of Object.keys(node)) {
      const at = [...path, key]
      const by = (file) => {
        const holder = path.reduce((found, each) => found[each], file)
        holder[key] = typeof node[key] === 'object' ? { other: [1] } : 'other'
      }
      const after = structuredClone(value)
      by(after)
      const now = edited(SHOP, false, value, after)
      assert.deepEqual(parseDocument(now).toJS(), after, at.join('.'))
      if (typeof node[key] !== 'object') assert.equal(count(now), count(SHOP), at.join('.'))
      walk(node[key], at)
    }
  }
  walk(value, [])
})

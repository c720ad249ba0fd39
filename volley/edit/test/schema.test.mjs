import assert from 'node:assert/strict'
import test from 'node:test'
import { converted } from '../src/schema.js'

const TEXT = { editor: 'string' }
const LIST = { editor: 'list' }
const PAIR = { editor: 'list', size: 2 }
const MAP = { editor: 'section' }

// What becomes of a value: from the first shape to the second one.
const become = (shapes, value, { was, main } = {}) => converted({ shapes, main }, 0, 1, value, was, {})

test('a value in another shape keeps what it can', () => {
  const hosts = { main: ['hosts'] }
  for (const [shapes, value, expected, options] of [
    [[TEXT, LIST], 'a', ['a']],
    [[LIST, TEXT], ['a', 'b'], 'a'],
    [[MAP, LIST], { users: 1 }, [{ users: 1 }]],
    [[LIST, MAP], [{ users: 1 }, { users: 2 }], { users: 1 }],
    [[TEXT, MAP], 'a', { hosts: 'a' }, hosts],
    [[LIST, MAP], ['a', 'b'], { hosts: ['a', 'b'] }, hosts],
    [[MAP, LIST], { hosts: ['a', 'b'], http: {} }, ['a', 'b'], hosts],
    [[MAP, TEXT], { hosts: ['a', 'b'] }, 'a', hosts],
    [[TEXT, PAIR], '1s', ['1s', '1s']],
    [[PAIR, MAP], ['1s', '2s'], { least: '1s', most: '2s' }, { main: ['least', 'most'] }],
    [[TEXT, MAP], false, { equals: false }, { main: ['equals'] }],
    [[TEXT, MAP], 'status', {}, { main: [] }],
    [[MAP, TEXT], { header: 'etag' }, undefined, { main: [] }]
  ]) {
    assert.deepEqual(become(shapes, value, options), expected)
  }
})

test('a shape that was there before keeps what the other one cannot say', () => {
  assert.deepEqual(become([TEXT, LIST], 'c', { was: ['a', 'b'] }), ['c', 'b'])
  const options = { main: ['hosts'], was: { hosts: 'a', http: { version: 2 } } }
  assert.deepEqual(become([TEXT, MAP], 'c', options), { hosts: 'c', http: { version: 2 } })
  assert.deepEqual(become([TEXT, MAP], '', options), options.was)
})

test('where nothing can be kept, the shape is empty', () => {
  assert.deepEqual(become([TEXT, LIST], ''), [])
  assert.deepEqual(become([TEXT, MAP], '', { main: ['equals'] }), {})
  assert.equal(become([MAP, TEXT], { starts_with: 'a' }, { main: ['equals'] }), undefined)
})

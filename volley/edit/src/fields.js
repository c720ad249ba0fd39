// The editors of the form, on top of JSON Editor's: sections whose keys are added as needed, lists, alternatives, and
// values of any kind. No text of a file ever becomes HTML.
import { JSONEditor } from '@json-editor/json-editor/src/core.js'
import { stringify } from 'yaml'
import { converted, fits, resolved, titleOf } from './schema.js'
import { same, valueOf } from './source.js'

const { AbstractEditor, AbstractTheme, defaults } = JSONEditor
const { string: StringEditor, number: NumberEditor, integer: IntegerEditor, select: SelectEditor } = defaults.editors

// JSON Editor would read texts as HTML, and drop the tags.
AbstractEditor.prototype.cleanText = String
AbstractTheme.prototype.cleanText = String

// So long after the last key, what was typed goes into the text.
const CALM_MS = 100

let count = 0

// Makes an element.
export function make (tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role' || name === 'for') element.setAttribute(name, value)
    else element[name] = value
  }
  element.append(...children)
  return element
}

const button = (text, label, onclick) =>
  make('button', { type: 'button', className: 'small', textContent: text, title: label, 'aria-label': label, onclick })

// What stands between backticks is code.
export const rich = (text) =>
  text.split('`').map((part, at) => (at % 2 === 1 ? make('code', { textContent: part }) : part))

const note = (text) => make('p', { className: 'note' }, ...rich(text))

// What stands for a value as long as the text of a field cannot be read. It goes wherever the value goes.
class Unread {
  constructor (text, last, problem) {
    // `last` is the last value that could be read.
    Object.assign(this, { text, last, problem })
  }
}

// A value without what cannot be read; each of that is noted, with the keys that lead there.
function readable (value, note, place = []) {
  if (value instanceof Unread) {
    note({ place, path: pathOf(place), problem: value.problem })
    return structuredClone(value.last)
  }
  if (Array.isArray(value)) return value.map((each, at) => readable(each, note, [...place, at]))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, readable(each, note, [...place, key])]))
}

// As messages write it: `scenarios.crud.steps[0].post`.
const pathOf = (place) =>
  place.map((key, at) => (typeof key === 'number' ? `[${key}]` : at > 0 ? `.${key}` : key)).join('')

// A value on one line, in short: no more of it is read than is shown.
function brief (value, room = 160) {
  if (value instanceof Unread) return brief(value.text, room)
  if (typeof value !== 'object' || value === null) return String(value ?? '').slice(0, room).replaceAll(/\s+/g, ' ')
  const parts = []
  for (const [key, each] of Object.entries(value)) {
    if (room <= 0) break
    const inner = brief(each, room)
    const part = typeof each === 'object' && each !== null ? wrapped(each, inner) : inner
    parts.push(Array.isArray(value) ? part : `${key}: ${part}`)
    room -= part.length + key.length + 2
  }
  return parts.join(', ')
}

const wrapped = (value, inner) => (Array.isArray(value) ? `[${inner}]` : `{${inner}}`)

class Theme extends AbstractTheme {
  getFormInputLabel (text) {
    return make('label', {}, make('code', { textContent: text }))
  }

  getFormInputDescription (text) {
    return note(text)
  }

  getFormControl (label, input, description) {
    const id = `field-${++count}`
    input.id = id
    label.setAttribute('for', id)
    input.autocomplete = 'off'
    input.spellcheck = false
    if (description) {
      description.id = `${id}-note`
      input.setAttribute('aria-describedby', description.id)
    }
    input.note = description?.id
    const control = make('div', { className: 'field' }, label, input)
    if (description) control.append(description)
    // Each key counts, not only the last one before the focus goes.
    if (input.tagName !== 'SELECT') input.addEventListener('input', () => input.dispatchEvent(new Event('change')))
    return control
  }

  addInputError (input, text) {
    input.mistake ??= make('p', { className: 'mistake', id: `${input.id}-mistake` })
    input.mistake.replaceChildren(...rich(text))
    input.after(input.mistake)
    input.setAttribute('aria-invalid', 'true')
    input.setAttribute('aria-describedby', [input.mistake.id, input.note].filter(Boolean).join(' '))
  }

  removeInputError (input) {
    input.mistake?.remove()
    input.removeAttribute('aria-invalid')
    if (input.note) input.setAttribute('aria-describedby', input.note)
    else input.removeAttribute('aria-describedby')
  }
}

const own = (errors, path) => errors.filter((error) => error.path === path).map((error) => error.message)

// The keys that lead to an editor. A shape has the place of its union.
function keysOf (editor) {
  const { parent } = editor
  if (!parent) return []
  return editor.path === parent.path ? keysOf(parent) : [...keysOf(parent), editor.key]
}

// A text up to a blank.
const cut = (text, most) => (text.length > most ? `${text.slice(0, text.lastIndexOf(' ', most))} …` : text)

// As many rows as lines.
const fitRows = (input, least) => {
  input.rows = Math.min(Math.max(input.value.split('\n').length, least), 20)
}

// What has a value of its own, in one input. Its mistakes are shown as they are.
const Leaf = (Base) => class extends Base {
  showValidationErrors (errors) {
    const mistakes = own(errors, this.path)
    if (mistakes.length > 0) this.theme.addInputError(this.input, mistakes.join('. '))
    else this.theme.removeInputError(this.input)
  }

  focus () {
    this.input.focus()
  }
}

// A text, on one line unless the schema says that it may have several, or it has them already.
class Text extends Leaf(StringEditor) {
  build () {
    this.hasLines = this.schema.lines
    super.build()
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !this.hasLines) event.preventDefault()
    })
  }

  setValue (value, initial) {
    this.hasLines = this.schema.lines || String(value).includes('\n')
    return super.setValue(value, initial)
  }

  // What is pasted.
  sanitize (text) {
    return this.hasLines || !text?.includes('\n') ? text : text.trim().replaceAll(/\s*\n\s*/g, ' ')
  }

  refreshValue () {
    super.refreshValue()
    if (this.input) fitRows(this.input, 1)
  }
}
class Whole extends Leaf(IntegerEditor) {}
class Real extends Leaf(NumberEditor) {}

// The text, number or boolean that is written so.
function plainValue (text) {
  if (text === 'true' || text === 'false') return text === 'true'
  const number = Number(text)
  return Number.isFinite(number) && String(number) === text ? number : text
}

// The same where the type counts: quotes make a text of what would be none, and null is a value of its own.
function typedValue (text) {
  if (typeof text !== 'string') return text
  if (text === 'null') return null
  if (/^-?(0|[1-9]\d*)\.\d+$/.test(text)) return Number(text)
  if (!/^".*"$/s.test(text)) return plainValue(text)
  try {
    const inner = JSON.parse(text)
    return typedValue(inner) === inner ? text : inner
  } catch {
    return text
  }
}

const typedText = (value) =>
  typeof value === 'string' && typedValue(value) !== value ? JSON.stringify(value) : String(value ?? '')

const kindOf = (value) =>
  value === null ? '`null`' : { number: 'a number', boolean: 'true or false', string: 'a text' }[typeof value]

// A text, a number or a boolean, as it is written. A text stays one.
class Scalar extends Text {
  build () {
    const keys = keysOf(this)
    const [expect, json, , which = 'equals'] = keys.slice(keys.lastIndexOf('expect'))
    // Of all conditions, these compare types.
    this.isTyped = expect === 'expect' && json === 'json' && ['equals', 'not'].includes(which)
    super.build()
    if (!this.isTyped) return
    this.kind = make('p', { className: 'note', id: `${this.input.id}-kind` })
    this.control.append(this.kind)
    this.input.note = [this.input.note, this.kind.id].filter(Boolean).join(' ')
    this.input.setAttribute('aria-describedby', this.input.note)
    this.showKind()
  }

  setValue (value, initial) {
    this.isText = !this.isTyped && typeof value === 'string' && value !== ''
    if (!this.isTyped) return super.setValue(value, initial)
    return super.setValue(value === null ? 'null' : typedText(value), initial)
  }

  getValue () {
    const text = super.getValue()
    if (this.isTyped) return typedValue(text)
    return this.isText ? text : plainValue(text)
  }

  refreshValue () {
    super.refreshValue()
    if (this.kind) this.showKind()
  }

  showKind () {
    const value = this.getValue()
    const other = typedValue(value)
    const hint = typeof value !== 'string'
      ? ` In quotes, \`"${value}"\`, it is a text.`
      : typeof other === 'string' ? '' : ` Without the quotes, it is ${kindOf(other)}.`
    // A template is compared by its text alone.
    const isOpen = value === '' || String(value).includes('${')
    this.kind.replaceChildren(...rich(isOpen ? '' : `Compared as ${kindOf(value)}.${hint}`))
  }
}

// Any value, as YAML.
class Any extends Leaf(StringEditor) {
  setValue (value, initial) {
    const isUnread = value instanceof Unread
    this.parsed = isUnread ? value.last : value
    this.problem = isUnread ? value.problem : undefined
    const text = isUnread ? value.text : value === undefined || value === '' ? '' : stringify(value, { lineWidth: 0 }).trimEnd()
    const done = super.setValue(text, initial)
    fitRows(this.input, 2)
    return done
  }

  refreshValue () {
    super.refreshValue()
    if (!this.input) return
    const { value, problem } = valueOf(this.input.value)
    this.problem = problem && `JSON or YAML is expected, such as \`{a: 1}\`. ${problem}`
    // Otherwise, the last value stands.
    if (!problem) this.parsed = value
  }

  getValue () {
    return this.problem ? new Unread(this.input.value, this.parsed, this.problem) : this.parsed
  }
}

// One of some values.
class Choice extends Leaf(SelectEditor) {
  typecast (value) {
    return value
  }

  preBuild () {
    super.preBuild()
    const { notes } = this.schema
    // The one that is shown.
    this.value = this.enum_values[0]
    if (notes) this.enum_display = this.enum_options.map((text, at) => (notes[at] ? `${text} – ${notes[at]}` : text))
  }

  setValue (value, initial) {
    // One that is none of them is a mistake, and is shown.
    if (value !== undefined && !this.enum_values.includes(value)) {
      this.enum_values.push(value)
      this.enum_options.push(`${value}`)
      this.enum_display.push(`${value}`)
      this.theme.setSelectOptions(this.input, this.enum_options, this.enum_display)
    }
    super.setValue(value, initial)
  }

  onInputChange () {
    const value = this.enum_values[this.input.selectedIndex]
    if (value === this.value) return
    this.value = value
    this.onChange(true)
  }

  getDefault () {
    return this.enum_values[0]
  }
}

// What holds other editors.
class Holder extends AbstractEditor {
  no_link_holder = true

  child (schema, key, holder, title = key) {
    const { definitions } = this.jsoneditor.options
    const full = { ...resolved(schema, definitions), title: String(title) }
    const child = new defaults.editors[full.editor]({
      jsoneditor: this.jsoneditor,
      schema: full,
      path: `${this.path}.${key}`,
      parent: this,
      container: holder
    }, defaults)
    child.preBuild()
    child.build()
    child.postBuild()
    return child
  }

  // A part of the page that opens and closes, with a summary of what is in it.
  frame () {
    this.brief = make('span', { className: 'brief' })
    this.summary = make('summary', {}, make('code', { textContent: this.getTitle() }), this.brief)
    this.alerts = make('div')
    this.body = make('div', { className: 'body' })
    this.details = make('details', {}, this.summary, this.body)
    if (this.schema.description) this.body.append(note(this.schema.description))
    this.body.append(this.alerts)
    this.container.append(this.details)
  }

  changed () {
    this.refreshValue()
    this.onChange(true)
  }

  onChildEditorChange (editor, data) {
    // Whoever sets a value takes it up at the end.
    if (this.jsoneditor.isBeingSet) return
    this.refreshValue()
    super.onChildEditorChange(editor, data)
  }

  showValidationErrors (errors) {
    const mistakes = own(errors, this.path)
    this.alerts.replaceChildren(...mistakes.map((text) => make('p', { className: 'mistake' }, ...rich(text))))
    const isWrong = errors.some((error) => error.path === this.path || error.path.startsWith(`${this.path}.`))
    this.details?.classList.toggle('wrong', isWrong)
    for (const child of this.children()) child.showValidationErrors(errors)
  }

  open () {
    if (this.details) this.details.open = true
    this.parent?.open()
  }

  focus () {
    this.summary.focus()
  }

  getDefault () {
    return undefined
  }

  destroy () {
    for (const child of this.children()) child.destroy()
    super.destroy()
  }
}

// A map: of keys that the schema names, of keys that the user names, or both.
class Section extends Holder {
  build () {
    this.entries = new Map()
    this.rows = make('div', { className: 'rows' })
    this.complaint = make('p', { className: 'complaint', role: 'alert' })
    this.isRoot = !this.parent
    if (this.isRoot) {
      this.alerts = make('div')
      this.body = this.container
      this.body.append(this.alerts)
    } else {
      this.frame()
    }
    this.body.append(this.rows, this.adder())
  }

  children () {
    return [...this.entries.values()].map(({ editor }) => editor)
  }

  adder () {
    const name = this.isRoot ? 'the file' : this.getTitle()
    const add = () => {
      const key = this.chosen.value.trim()
      if (this.complains(key)) return this.chosen.focus()
      const editor = this.put(key)
      this.place()
      this.changed()
      editor.open?.()
      editor.focus()
      this.chosen.value = ''
    }
    const label = this.schema.entry ? `Name of a new entry of ${name}` : `New key of ${name}`
    if (this.schema.entry) {
      this.chosen = make('input', { 'aria-label': label, placeholder: 'name', autocomplete: 'off', spellcheck: false })
      this.chosen.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter') return
        // Not in the field that gets the focus, too.
        event.preventDefault()
        add()
      })
    } else {
      this.chosen = make('select', { 'aria-label': label })
    }
    const adds = button('Add', `Add to ${name}`, add)
    this.addRow = make('div', { className: 'add' }, this.chosen, adds, this.complaint)
    this.chosen.addEventListener('input', () => this.complaint.replaceChildren())
    return this.addRow
  }

  // Says why there can be no such key; whether there cannot.
  complains (key, complaint = this.complaint) {
    const nothing = this.schema.entry ? 'A name is needed.' : 'Choose a key first.'
    const why = key === '' ? nothing : this.entries.has(key) ? `\`${key}\` is there already.` : ''
    complaint.replaceChildren(...rich(why))
    return why !== ''
  }

  // Adds a key, or sets its value.
  put (key, value) {
    const known = this.entries.get(key)
    if (known) return value !== undefined && known.editor.setValue(value)
    const schema = Object.hasOwn(this.schema.fields, key) ? this.schema.fields[key] : this.schema.entry
    // A mistake, which the text keeps.
    if (!schema) return undefined
    const row = make('div', { className: 'row' })
    const editor = this.child(schema, key, row)
    const buttons = make('div', { className: 'buttons' }, ...(editor.controls ?? []))
    if (this.schema.entry) buttons.append(button('Rename', `Rename ${key}`, () => this.rename(key)))
    if (!this.schema.needed.includes(key)) {
      buttons.append(button('✕', `Remove ${key}`, () => {
        this.drop(key)
        this.changed()
        this.chosen.focus()
      }))
    }
    row.append(buttons)
    this.entries.set(key, { editor, row })
    if (value !== undefined) editor.setValue(value, true)
    return editor
  }

  // Keys of the schema stand in its order, others as they came.
  place () {
    const order = Object.keys(this.schema.fields)
    const keys = [...this.entries.keys()]
    if (!this.schema.entry) keys.sort((a, b) => order.indexOf(a) - order.indexOf(b))
    keys.forEach((key, at) => {
      const { row } = this.entries.get(key)
      // What stands in its place keeps the focus.
      if (this.rows.children[at] !== row) this.rows.insertBefore(row, this.rows.children[at] ?? null)
    })
    if (this.schema.entry) return
    const free = order.filter((key) => !this.entries.has(key))
    this.chosen.replaceChildren(make('option', { value: '', textContent: 'a key …' }), ...free.map((key) => {
      const { description } = resolved(this.schema.fields[key], this.jsoneditor.options.definitions)
      return make('option', { value: key, textContent: description ? `${key} – ${cut(description, 100)}` : key })
    }))
    this.addRow.hidden = free.length === 0
  }

  drop (key) {
    const { editor, row } = this.entries.get(key)
    editor.destroy()
    row.remove()
    this.entries.delete(key)
    this.place()
  }

  rename (key) {
    const { row } = this.entries.get(key)
    const input = make('input', { value: key, 'aria-label': `New name of ${key}`, autocomplete: 'off', spellcheck: false })
    const complaint = make('p', { className: 'complaint', role: 'alert' })
    const form = make('form', { className: 'rename' }, input,
      make('button', { textContent: 'Rename', className: 'small' }), complaint)
    const end = () => {
      form.remove()
      row.querySelector(':scope > .buttons > button')?.focus()
    }
    form.onsubmit = (event) => {
      event.preventDefault()
      const name = input.value.trim()
      if (name === key) return end()
      if (this.complains(name, complaint)) return input.focus()
      const values = Object.entries(this.getValue()).map(([old, value]) => [old === key ? name : old, value])
      this.jsoneditor.options.onRename(keysOf(this), key, name)
      this.setValue(Object.fromEntries(values))
      this.changed()
      this.entries.get(name).editor.focus()
    }
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') end()
    })
    row.prepend(form)
    input.focus()
    input.select()
  }

  setValue (value) {
    if (value === undefined && this.entries.size > 0) return
    const map = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
    for (const key of [...this.entries.keys()]) if (!Object.hasOwn(map, key)) this.drop(key)
    for (const key of this.schema.needed) if (!Object.hasOwn(map, key)) this.put(key)
    for (const [key, each] of Object.entries(map)) this.put(key, each)
    this.place()
    this.refreshValue()
    this.onChange()
  }

  refreshValue () {
    const pairs = [...this.entries].map(([key, { editor }]) => [key, editor.getValue()])
    this.value = Object.fromEntries(pairs)
    if (this.brief) this.brief.textContent = brief(this.value)
  }
}

// A list.
class List extends Holder {
  build () {
    this.items = []
    this.frame()
    this.rows = make('ol', { className: 'rows' })
    const add = button('Add', `Add to ${this.getTitle()}`, () => {
      this.put()
      this.changed()
      const { editor } = this.items.at(-1)
      editor.open?.()
      editor.focus()
    })
    this.body.append(this.rows)
    if (!this.schema.size) this.body.append(make('div', { className: 'add' }, add))
  }

  children () {
    return this.items.map(({ editor }) => editor)
  }

  put (value) {
    const at = this.items.length
    const row = make('li', { className: 'row' })
    const editor = this.child(this.schema.item, at, row, at + 1)
    const name = `${this.getTitle()} ${at + 1}`
    const move = (to) => {
      const values = this.getValue().toSpliced(at, 1).toSpliced(to, 0, this.getValue()[at])
      this.setValue(values)
      this.changed()
      this.items[to].editor.focus()
    }
    const buttons = make('div', { className: 'buttons' }, ...(editor.controls ?? []))
    if (!this.schema.size) {
      const up = button('↑', `Move ${name} up`, () => at > 0 && move(at - 1))
      const down = button('↓', `Move ${name} down`, () => at + 1 < this.items.length && move(at + 1))
      buttons.append(up, down, button('✕', `Remove ${name}`, () => {
        this.setValue(this.getValue().toSpliced(at, 1))
        this.changed()
        const next = this.items[Math.min(at, this.items.length - 1)]
        if (next) next.editor.focus()
        else this.focus()
      }))
    }
    row.append(buttons)
    this.rows.append(row)
    this.items.push({ editor, row })
    if (value !== undefined) editor.setValue(value, true)
  }

  setValue (value) {
    const list = Array.isArray(value) ? value : []
    while (this.items.length > Math.max(list.length, this.schema.size ?? 0)) {
      const { editor, row } = this.items.pop()
      editor.destroy()
      row.remove()
    }
    list.forEach((each, at) => {
      if (at < this.items.length) this.items[at].editor.setValue(each)
      else this.put(each)
    })
    while (this.items.length < (this.schema.size ?? 0)) this.put()
    this.refreshValue()
    this.onChange()
  }

  refreshValue () {
    this.value = this.items.map(({ editor }) => editor.getValue())
    this.brief.textContent = brief(this.value)
    this.items.forEach(({ editor }, at) => {
      const name = this.value[at]?.name
      if (editor.title) editor.title.textContent = name ? `${at + 1} ${name}` : `${at + 1}`
    })
  }
}

// One of several shapes.
class Union extends Holder {
  build () {
    const { shapes } = this.schema
    const titles = shapes.map((_, at) => titleOf(this.schema, at, this.jsoneditor.options.definitions))
    this.holder = make('div', { className: 'union' })
    this.switch = make('select', { className: 'shape', 'aria-label': `Shape of ${this.getTitle()}` },
      ...titles.map((title) => make('option', { textContent: title })))
    this.forget()
    this.switch.onchange = () => {
      this.turn(this.switch.selectedIndex)
      this.editor.open?.()
      this.changed()
    }
    // They stand beside it.
    this.controls = [this.switch]
    this.container.append(this.holder)
    this.show(0)
  }

  children () {
    return [this.editor]
  }

  // The last value of each shape; the shapes since which only shapes have changed, and the value that was made then.
  forget () {
    this.kept = []
    this.unchanged = new Set()
    this.made = undefined
  }

  // Takes another shape, which says the same as far as it can. A way back restores what was there.
  turn (at) {
    const { definitions } = this.jsoneditor.options
    const value = this.editor.getValue()
    if (!same(value, this.made)) this.unchanged.clear()
    this.unchanged.add(this.at)
    this.kept[this.at] = value
    const next = this.unchanged.has(at) ? this.kept[at] : converted(this.schema, this.at, at, value, this.kept[at], definitions)
    this.show(at)
    if (next !== undefined) this.editor.setValue(next)
    this.made = this.editor.getValue()
  }

  show (at) {
    const { shapes, description, lines } = this.schema
    this.editor?.destroy()
    const box = make('div')
    this.holder.replaceChildren(box)
    this.at = at
    this.switch.selectedIndex = at
    const shape = resolved(shapes[at], this.jsoneditor.options.definitions)
    const full = { lines, ...shape, description: description ?? shape.description, title: this.getTitle() }
    this.editor = new defaults.editors[full.editor]({
      jsoneditor: this.jsoneditor,
      schema: full,
      path: this.path,
      parent: this,
      container: box
    }, defaults)
    this.editor.preBuild()
    this.editor.build()
    this.editor.postBuild()
    // The path leads here: the part is reached through this one.
    this.register()
    this.refreshValue()
  }

  get title () {
    return this.editor.title
  }

  setValue (value, initial) {
    if (value === undefined) return
    const { shapes } = this.schema
    const marks = shapes.map((each) => fits(each, value, this.jsoneditor.options.definitions))
    const best = marks.indexOf(Math.max(...marks))
    if (best !== this.at) this.show(best)
    this.forget()
    this.editor.setValue(value, initial)
    this.refreshValue()
  }

  refreshValue () {
    this.value = this.editor?.getValue()
  }

  showValidationErrors (errors) {
    this.editor.showValidationErrors(errors)
  }

  focus () {
    this.editor.focus()
  }
}

for (const kind of [Section, List]) {
  Object.defineProperty(kind.prototype, 'title', {
    get () {
      return this.summary?.firstChild
    },
    set () {}
  })
}

Object.assign(defaults.editors, {
  section: Section, list: List, union: Union, string: Text, integer: Whole, number: Real, scalar: Scalar, any: Any, choice: Choice
})
defaults.themes.volley = Theme
defaults.resolvers.unshift((schema) => schema.editor)

// A form in an element: `form` is what schema.js makes of the schema. `onChange` gets the values before and after a
// change, what was renamed (the keys to a map, and the old and the new name there), and what takes the form back.
export class Form {
  constructor (element, form, onChange) {
    this.mistakes = []
    // What cannot be read.
    this.unread = []
    this.renames = []
    this.editor = new JSONEditor(element, {
      schema: form.root,
      definitions: form.definitions,
      theme: 'volley',
      disable_theme_rules: true,
      use_name_attributes: false,
      show_errors: 'always',
      onRename: (...rename) => this.renames.push(rename)
    })
    this.onChange = onChange
    this.editor.on('change', () => {
      clearTimeout(this.timer)
      this.timer = setTimeout(() => this.flush(), CALM_MS)
    })
    this.ready = this.editor.promise.then(() => {
      // What is wrong, `volley check` says.
      this.editor.validator.validate = () => this.mistakes
    })
  }

  // Shows another value, or one that was to be taken back; this is no change.
  set (value) {
    this.editor.isBeingSet = true
    this.editor.root.setValue(value)
    this.editor.isBeingSet = false
    this.value = this.read()
    this.raw = this.editor.root.getValue()
  }

  // Opens what gives an overview: the steps of each scenario.
  unfold () {
    for (const name of Object.keys(this.value.scenarios ?? {})) {
      this.editor.getEditor(`root.scenarios.${name}.steps`)?.open()
    }
  }

  read () {
    this.unread = []
    return readable(this.editor.root.getValue(), (mistake) => this.unread.push(mistake))
  }

  // Reports what has changed since the last time.
  flush () {
    clearTimeout(this.timer)
    if (this.value === undefined) return
    const [before, raw, renames] = [this.value, this.raw, this.renames]
    this.value = this.read()
    this.raw = this.editor.root.getValue()
    this.renames = []
    // What cannot be read is compared by its text.
    if (!same(raw, this.raw)) this.onChange(before, this.value, renames, raw)
  }

  // Shows mistakes, each at its field or at the nearest one that is there.
  show (mistakes) {
    this.mistakes = mistakes.map(({ place = [], problem }) => ({ path: this.at(place).path, message: problem }))
    this.editor.root.showValidationErrors(this.mistakes)
  }

  at (place) {
    let found = this.editor.root
    let path = found.path
    for (const key of place) {
      path += `.${key}`
      found = this.editor.getEditor(path) ?? found
    }
    return found
  }

  focus (place) {
    const editor = this.at(place)
    editor.parent?.open()
    editor.open?.()
    editor.focus()
    editor.container.scrollIntoView({ block: 'center' })
  }
}

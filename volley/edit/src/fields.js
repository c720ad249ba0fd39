// The editors of the form, on top of JSON Editor's: sections whose keys are added as needed, lists, alternatives, and
// values of any kind. No text of a file ever becomes HTML.
import { JSONEditor } from '@json-editor/json-editor/src/core.js'
import { parse, stringify } from 'yaml'
import { fits, resolved, titleOf } from './schema.js'
import { same } from './source.js'

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

// A value on one line, in short: no more of it is read than is shown.
function brief (value, room = 160) {
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

class Text extends Leaf(StringEditor) {
  refreshValue () {
    super.refreshValue()
    if (this.input) fitRows(this.input, 1)
  }
}
class Whole extends Leaf(IntegerEditor) {}
class Real extends Leaf(NumberEditor) {}

// A text, a number or a boolean, as it is written. A text stays one.
class Scalar extends Text {
  setValue (value, initial) {
    this.isText = typeof value === 'string' && value !== ''
    return super.setValue(value, initial)
  }

  getValue () {
    const text = super.getValue()
    if (this.isText) return text
    if (text === 'true' || text === 'false') return text === 'true'
    const number = Number(text)
    return text !== '' && String(number) === text ? number : text
  }
}

// Any value, as YAML.
class Any extends Leaf(StringEditor) {
  setValue (value, initial) {
    this.parsed = value
    this.problem = undefined
    const text = value === undefined || value === '' ? '' : stringify(value, { lineWidth: 0 }).trimEnd()
    const done = super.setValue(text, initial)
    fitRows(this.input, 2)
    return done
  }

  refreshValue () {
    super.refreshValue()
    if (!this.input) return
    try {
      this.parsed = parse(this.input.value) ?? null
      this.problem = undefined
    } catch (error) {
      // The last value stands.
      this.problem = `This is no YAML: ${error.message.split('\n')[0]}`
    }
  }

  getValue () {
    return this.parsed
  }

  showValidationErrors (errors) {
    if (this.problem) this.theme.addInputError(this.input, this.problem)
    else super.showValidationErrors(errors)
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
      if (key === '' || this.entries.has(key)) return this.chosen.focus()
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
    this.addRow = make('div', { className: 'add' }, this.chosen, adds)
    return this.addRow
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
      return make('option', { value: key, textContent: description ? `${key} – ${description.slice(0, 100)}` : key })
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
    const form = make('form', { className: 'rename' }, input, make('button', { textContent: 'Rename', className: 'small' }))
    const end = () => {
      form.remove()
      row.querySelector(':scope > .buttons > button')?.focus()
    }
    form.onsubmit = (event) => {
      event.preventDefault()
      const name = input.value.trim()
      if (name === key) return end()
      if (name === '' || this.entries.has(name)) return input.focus()
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
    this.switch.onchange = () => {
      this.show(this.switch.selectedIndex)
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

  show (at) {
    const { shapes, description } = this.schema
    this.editor?.destroy()
    const box = make('div')
    this.holder.replaceChildren(box)
    this.at = at
    this.switch.selectedIndex = at
    const shape = resolved(shapes[at], this.jsoneditor.options.definitions)
    const full = { ...shape, description: description ?? shape.description, title: this.getTitle() }
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
// change, and what was renamed: the keys to a map, and the old and the new name there.
export class Form {
  constructor (element, form, onChange) {
    this.mistakes = []
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

  // Shows another value; this is no change.
  set (value) {
    this.editor.isBeingSet = true
    this.editor.root.setValue(value)
    this.editor.isBeingSet = false
    this.value = this.read()
  }

  // Opens what gives an overview: the steps of each scenario.
  unfold () {
    for (const name of Object.keys(this.value.scenarios ?? {})) {
      this.editor.getEditor(`root.scenarios.${name}.steps`)?.open()
    }
  }

  read () {
    return structuredClone(this.editor.root.getValue())
  }

  // Reports what has changed since the last time.
  flush () {
    clearTimeout(this.timer)
    if (this.value === undefined) return
    const [before, after, renames] = [this.value, this.read(), this.renames]
    this.value = after
    this.renames = []
    if (!same(before, after)) this.onChange(before, after, renames)
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

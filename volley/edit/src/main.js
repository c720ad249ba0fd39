// The page: a form and a text of one file, its mistakes, and one iteration of it.
import * as api from './api.js'
import { Form, make, rich } from './fields.js'
import { formOf } from './schema.js'
import { edited, isJson, packed, read, unpacked } from './source.js'

// So long after the last change, the file is checked.
const CALM_MS = 300

const byId = (id) => document.getElementById(id)
const parts = Object.fromEntries(
  ['name', 'state', 'alert', 'once', 'save', 'as-form', 'as-text', 'why', 'form', 'text', 'editor', 'verdict', 'mistakes',
    'outline', 'trial', 'outcome', 'stop', 'pages'].map((id) => [id, byId(id)])
)

const page = {
  form: undefined,
  // The file as it was read: its line ends, its version, and the text that is on disk.
  file: undefined,
  text: '',
  isForm: true,
  isSaving: false,
  checks: 0,
  timer: undefined,
  trial: undefined
}

const isUnsaved = () => !page.file.exists || page.text !== page.file.text

function showState () {
  const words = !page.file.exists ? 'new, not saved yet' : isUnsaved() ? 'not saved' : 'saved'
  if (parts.state.textContent !== words) parts.state.textContent = words
  parts.save.disabled = !isUnsaved()
}

// A message that stays until the next one. Actions: texts and what they do.
function alertUser (text, actions = []) {
  if (text === undefined) return parts.alert.replaceChildren()
  const buttons = actions.map(([label, act]) => make('button', { type: 'button', textContent: label, onclick: act }))
  parts.alert.replaceChildren(make('div', { className: 'warning' }, make('p', { textContent: text }), ...buttons))
}

function changeTo (text) {
  page.text = text
  showState()
  parts.verdict.textContent = 'Checking …'
  clearTimeout(page.timer)
  page.timer = setTimeout(check, CALM_MS)
}

// ---- the two views

function showText (why) {
  page.isForm = false
  parts.editor.value = page.text
  turn()
  parts.why.hidden = !why
  if (why) parts.why.textContent = `${why} It can be edited as text.`
}

function showForm () {
  const { value, problem } = read(page.text)
  if (problem) return showText(problem)
  page.isForm = true
  page.form.set(value)
  turn()
  parts.why.hidden = true
  check()
}

function turn () {
  parts.form.hidden = !page.isForm
  parts.text.hidden = page.isForm
  parts['as-form'].setAttribute('aria-pressed', page.isForm)
  parts['as-text'].setAttribute('aria-pressed', !page.isForm)
}

// The text with what was typed last.
function current () {
  if (page.isForm) page.form.flush()
  return page.text
}

const sent = () => packed(current(), page.file)

// ---- the server

async function check () {
  clearTimeout(page.timer)
  const number = ++page.checks
  try {
    const found = await api.check(sent())
    // Only the last one counts.
    if (number === page.checks) showFound(found)
  } catch (error) {
    alertUser(error.message)
  }
}

function showFound ({ mistakes, outline }) {
  if (page.isForm) page.form.show(mistakes)
  const many = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`
  parts.verdict.textContent = mistakes.length > 0 ? many : 'No mistakes. What the file would do:'
  parts.mistakes.replaceChildren(...mistakes.map((mistake) => {
    const where = [mistake.line && `line ${mistake.line}`, mistake.path].filter(Boolean).join(', ')
    const button = make('button', { type: 'button', onclick: () => lead(mistake) }, ...rich(mistake.problem))
    if (where) button.append(make('small', { textContent: where }))
    return make('li', {}, button)
  }))
  parts.outline.hidden = !outline
  parts.outline.textContent = outline ?? ''
}

// Leads to a mistake.
function lead ({ line, place }) {
  if (page.isForm) return page.form.focus(place ?? [])
  if (!line) return
  const lines = parts.editor.value.split('\n')
  const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
  parts.editor.focus()
  parts.editor.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  const height = parts.editor.scrollHeight / lines.length
  parts.editor.scrollTop = Math.max(0, (line - 5) * height)
}

async function save (isForced = false) {
  if (page.isSaving) return
  alertUser()
  const text = current()
  if (!isForced && !isUnsaved()) return
  page.isSaving = true
  try {
    const { version } = await api.save(packed(text, page.file), page.file.version)
    Object.assign(page.file, { version, text, exists: true })
    showState()
  } catch (error) {
    if (error.status !== 412) return alertUser(error.message)
    alertUser('The file on disk has changed since it was opened. Nothing was saved.', [
      ['Load it from disk, and drop what is here', load],
      ['Save this over it', overwrite]
    ])
  } finally {
    page.isSaving = false
  }
}

async function overwrite () {
  try {
    const { version } = await api.file()
    page.file.version = version
    await save(true)
  } catch (error) {
    alertUser(error.message)
  }
}

async function load () {
  alertUser()
  try {
    const { path, text, version, exists, json } = await api.file()
    const source = unpacked(text)
    page.file = { ...source, version, exists, isJson: json || isJson(source.text) }
    page.text = source.text
    parts.name.textContent = path.split('/').pop()
    parts.name.title = path
    document.title = `${path.split('/').pop()} – volley edit`
    if (source.isMixed) alertUser('The lines of this file end in several ways. A save makes them all end in one.')
    showState()
    if (page.isForm) showForm()
    else showText()
    if (page.isForm) page.form.unfold()
    check()
  } catch (error) {
    alertUser(error.message)
  }
}

async function once () {
  const text = sent()
  const { signal } = (page.trial = new AbortController())
  parts.trial.hidden = false
  parts.once.disabled = true
  parts.stop.hidden = false
  parts.outcome.className = ''
  parts.outcome.textContent = 'It runs …'
  parts.pages.replaceChildren()
  try {
    const { ok, pages, reason } = await api.once(text, signal)
    parts.outcome.className = ok ? '' : 'bad'
    parts.outcome.textContent = reason ?? (ok ? 'All steps are good.' : 'A step has failed.')
    parts.pages.replaceChildren(...pages.map((shown, at) =>
      make('pre', { textContent: shown.trim(), tabIndex: 0, 'aria-label': `Request ${at + 1}` })))
  } catch (error) {
    parts.outcome.className = 'bad'
    parts.outcome.textContent = error.name === 'AbortError' ? 'Stopped.' : error.message
    if (error.answer?.mistakes) showFound(error.answer)
  }
  parts.once.disabled = false
  parts.stop.hidden = true
  parts.trial.scrollIntoView({ block: 'nearest' })
}

// ---- the beginning

async function start () {
  const form = formOf(await api.schema())
  page.form = new Form(parts.form, form, (before, after, renames) => {
    changeTo(edited(page.text, page.file.isJson, before, after, renames))
  })
  await page.form.ready
  await load()
  parts['as-form'].onclick = () => page.isForm || showForm()
  parts['as-text'].onclick = () => {
    if (!page.isForm) return
    current()
    showText()
  }
  parts.editor.oninput = () => changeTo(parts.editor.value)
  parts.save.onclick = () => save()
  parts.once.onclick = once
  parts.stop.onclick = () => page.trial.abort()
  addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's') {
      event.preventDefault()
      save()
    }
  })
  addEventListener('beforeunload', (event) => {
    if (current() !== page.file.text) event.preventDefault()
  })
}

start().catch((error) => alertUser(error.message))

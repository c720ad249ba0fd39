// From the published JSON Schema to what the form shows: nothing is null, each alternative has a title, and each kind of
// value has an editor (fields.js).

// What alternatives are called. Others are named after their kind.
const TITLES = {
  Target: ['one address', 'several addresses', 'with options'],
  Rule: ['equals', 'conditions'],
  Save: ['status, body or url', 'a part of the response'],
  Think: ['a time', 'two times', 'by name'],
  Threshold: ['a condition', 'with options'],
  Size: ['a size']
}
const KINDS = { string: 'one', scalar: 'one', choice: 'one', list: 'several', section: 'details' }

const plain = (text) => text?.replaceAll('\n', ' ').trim()

// Definitions by name, and the form of the whole file.
export function formOf (schema) {
  const definitions = {}
  for (const [name, definition] of Object.entries(schema.$defs)) {
    definitions[name] = field(definition, TITLES[name])
  }
  const root = field(schema)
  delete root.fields.$schema
  return { root, definitions }
}

// The schema behind a reference, with what stands beside that.
export function resolved (schema, definitions) {
  if (!schema.ref) return schema
  const { ref, ...own } = schema
  const found = resolved(definitions[ref], definitions)
  return { ...found, ...own, description: own.description ?? found.description }
}

function field (schema, titles) {
  const description = plain(schema?.description)
  return { ...(description && { description }), ...shape(schema, titles) }
}

function shape (schema, titles) {
  if (schema === true || schema === undefined) return any()
  if (schema.$ref) return { ref: schema.$ref.split('/').pop() }
  const options = alternatives(schema)
  if (options) return union(options, titles)
  if (schema.enum) return choice(schema.enum)
  switch (schema.type) {
    case 'object':
      return section(schema)
    case 'array':
      return list(schema)
    case 'boolean':
      return { editor: 'choice', type: 'string', enum: [true, false] }
    case 'integer':
    case 'number':
    case 'string':
      return input(schema.type, schema)
    default:
      return any()
  }
}

const any = () => ({ editor: 'any', type: 'string', format: 'textarea' })
// A text may have several lines.
const input = (editor, { examples }) => ({
  editor,
  type: 'string',
  ...(['string', 'scalar'].includes(editor) && { format: 'textarea' }),
  ...example(examples)
})
const example = (examples) =>
  examples && { options: { inputAttributes: { placeholder: `such as ${examples.join(' or ')}` } } }
const choice = (values, notes = []) => ({
  editor: 'choice',
  type: 'string',
  enum: values,
  notes: values.map((_, at) => plain(notes[at]))
})

// The schemas of which one holds; undefined if there is only this one.
function alternatives (schema) {
  const some = schema.anyOf ?? schema.oneOf
  if (some) {
    const all = some.flatMap((each) => alternatives(each) ?? [each])
    return all.filter((each) => each.type !== 'null')
  }
  if (!Array.isArray(schema.type)) return undefined
  const types = schema.type.filter((type) => type !== 'null')
  const lists = types.filter((type) => type === 'array' || type === 'object')
  const scalars = types.filter((type) => !lists.includes(type))
  const all = lists.map((type) => ({ ...schema, type }))
  if (scalars.length === 1) all.unshift({ ...schema, type: scalars[0] })
  if (scalars.length > 1) all.unshift({ scalar: true, examples: schema.examples })
  return all
}

function union (options, titles) {
  const named = options.every((each) => each.const !== undefined || each.enum)
  if (named) {
    const values = options.flatMap((each) => each.enum ?? [each.const])
    const notes = options.flatMap((each) => each.enum?.map(() => each.description) ?? [each.description])
    return choice(values, notes)
  }
  const shapes = options.map((each) => (each.scalar ? input('scalar', each) : field(each)))
  if (shapes.length === 1) return shapes[0]
  return { editor: 'union', type: 'object', shapes, titles }
}

// The title of an alternative.
export function titleOf (union, at, definitions) {
  const { editor } = resolved(union.shapes[at], definitions)
  return union.titles?.[at] ?? KINDS[editor] ?? editor
}

function section (schema) {
  const fields = {}
  for (const [name, each] of Object.entries(schema.properties ?? {})) fields[name] = field(each)
  const more = schema.additionalProperties
  return {
    editor: 'section',
    type: 'object',
    fields,
    needed: schema.required ?? [],
    ...(more && typeof more === 'object' && { entry: field(more) })
  }
}

function list (schema) {
  const items = schema.prefixItems?.[0] ?? schema.items ?? true
  const size = schema.prefixItems?.length ?? schema.minItems
  return { editor: 'list', type: 'array', item: field(items), ...(size && { size }) }
}

// Whether a value may be meant by a schema: for a file with mistakes, too, the alternative that is nearest.
export function fits (schema, value, definitions) {
  const { editor, fields, entry, enum: values } = resolved(schema, definitions)
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  switch (editor) {
    case 'section':
      return isMap ? 1 + Object.keys(value).filter((key) => entry || key in fields).length : 0
    case 'list':
      return Array.isArray(value) ? 1 : 0
    case 'choice':
      return values.includes(value) ? 2 : typeof value !== 'object' ? 1 : 0
    case 'any':
      return 1
    default:
      return typeof value !== 'object' ? 1 : 0
  }
}

// What the server offers. The token is in the address of the page, after the #.
const token = location.hash.slice(1)

export class Refusal extends Error {
  constructor (status, answer) {
    super(answer.error ?? `The server answered with ${status}.`)
    this.status = status
    this.answer = answer
  }
}

async function ask (method, path, { headers = {}, ...options } = {}) {
  let response
  try {
    response = await fetch(path, { method, headers: { authorization: `Bearer ${token}`, ...headers }, ...options })
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new Refusal(0, { error: '`volley edit` does not answer: it was ended. What is on this page is not lost: copy the text, and start it again.' })
  }
  const answer = await response.json()
  if (!response.ok) throw new Refusal(response.status, answer)
  return { ...answer, version: response.headers.get('etag') }
}

export const schema = () => ask('GET', 'v1/schema')
export const file = () => ask('GET', 'v1/file')
export const save = (body, version) => ask('PUT', 'v1/file', { body, headers: { 'if-match': version } })
export const check = (body) => ask('POST', 'v1/check', { body })
export const once = (body, signal) => ask('POST', 'v1/once', { body, signal })

// Makes dist/: the page, its style, one script, and the licences of what the script is made of.
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { build } from 'esbuild'

const PACKAGE = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//
const LICENSE = /^(licen[cs]e|copying|notice)/i

const made = await build({
  entryPoints: { page: 'src/main.js' },
  outdir: 'dist',
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  // All licences are in one file of their own.
  legalComments: 'none',
  metafile: true
})
await build({ entryPoints: ['src/page.css'], outdir: 'dist', minify: true })
await writeFile('dist/page.html', await readFile('src/page.html'))

const packages = new Set()
for (const input of Object.keys(made.metafile.inputs)) {
  const found = PACKAGE.exec(input)
  if (found) packages.add(found[1])
}
const licenses = []
for (const name of [...packages].sort()) {
  const folder = `node_modules/${name}`
  const { version, license } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'))
  const files = (await readdir(folder)).filter((file) => LICENSE.test(file)).sort()
  if (files.length === 0) throw new Error(`${name} has no text of its licence`)
  const texts = await Promise.all(files.map((file) => readFile(`${folder}/${file}`, 'utf8')))
  licenses.push(`${name} ${version} (${license})\n\n${texts.join('\n').trim()}\n`)
}
const line = '-'.repeat(80)
await writeFile('dist/licenses.txt', licenses.join(`\n${line}\n\n`))

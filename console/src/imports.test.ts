import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const src = fileURLToPath(new URL('.', import.meta.url))
const files = (readdirSync(src, { recursive: true }) as string[]).filter((f) => /(?<!\.test)\.tsx?$/.test(f))
const known = new Set(files)

/** importsOf returns the files of the sources that a file imports when it is loaded, and those that it takes types from. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  return [...text.matchAll(/^(?:import|export) .*?from '(\.[^']*)'/gms)].flatMap(([, path = '']) => {
    const target = normalize(join(dirname(file), path))
    return [`${target}.ts`, `${target}.tsx`, `${target}/index.tsx`].filter((f) => known.has(f))
  })
}

const imports = new Map(files.map((f) => [f, importsOf(f)]))

/** circle returns a way from a file back to one on it, if there is one. */
function circle(file: string, way: string[], done: Set<string>): string[] | undefined {
  if (way.includes(file)) {
    return [...way.slice(way.indexOf(file)), file]
  }
  if (done.has(file)) {
    return undefined
  }
  for (const next of imports.get(file) ?? []) {
    const found = circle(next, [...way, file], done)
    if (found) {
      return found
    }
  }
  done.add(file)
  return undefined
}

test('files import each other in no circle', () => {
  const done = new Set<string>()
  for (const file of files) {
    assert.deepEqual(circle(file, [], done), undefined)
  }
})

/** below says which folders the files of a folder may import. */
const below: Record<string, string[]> = {
  aws: [],
  data: ['api', 'frame'],
  api: ['aws', 'data', 'frame'],
  frame: ['aws', 'api', 'data', 'routes.ts'],
  parts: ['aws', 'api', 'data', 'frame'],
  pages: ['aws', 'api', 'data', 'frame', 'parts'],
}

test('folders import what is below them', () => {
  const wrong = files.flatMap((file) => {
    const folder = file.split('/')[0] ?? ''
    const may = below[folder]
    return (imports.get(file) ?? [])
      .filter((to) => may && !to.startsWith(`${folder}/`) && !may.includes(to.split('/')[0] ?? ''))
      .map((to) => `${file} imports ${to}`)
  })
  assert.deepEqual(wrong, [])
})

test('only the folder api calls the server', () => {
  const calling = files.filter((f) => /\b(sluice|monitoring)[<(]|\.send\(/.test(readFileSync(join(src, f), 'utf8')))
  assert.deepEqual(
    calling.filter((f) => !f.startsWith('api/') && !f.startsWith('aws/') && !f.endsWith('.test.ts')),
    [],
  )
})

// Fails unless every compressed file of dist holds what the file beside it holds. node console/compressed.mjs
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'

const dist = fileURLToPath(new URL('dist', import.meta.url))
const compressed = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith('.br'))
const wrong = compressed.filter((name) => {
  const file = `${dist}/${name}`
  return !brotliDecompressSync(readFileSync(file)).equals(readFileSync(file.slice(0, -3)))
})
for (const name of wrong) {
  console.error(`${name} does not hold what the file beside it holds`)
}
if (compressed.length === 0 || wrong.length > 0) {
  process.exit(1)
}

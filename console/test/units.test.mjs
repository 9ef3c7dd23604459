// Runs the tests beside the sources, src/**/*.test.ts. Vite reads them, so they need no build and no browser.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

globalThis.location ??= new URL('http://127.0.0.1/console/') // which modules read when they are loaded

const root = fileURLToPath(new URL('..', import.meta.url))
const server = await createServer({
  root,
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  server: { middlewareMode: true, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
  ssr: { noExternal: [/^@cloudscape-design/] }, // its modules name folders and styles, which Node.js does not load
})
for (const file of readdirSync(`${root}/src`, { recursive: true }).sort()) {
  if (file.endsWith('.test.ts')) {
    await server.ssrLoadModule(`/src/${file}`)
  }
}
await server.close()

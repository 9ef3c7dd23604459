import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// The fonts of the reader's system instead of Cloudscape's, which are 137 KB inside its style sheet.
const systemFonts: Plugin = {
  name: 'system-fonts',
  enforce: 'pre',
  load(id) {
    if (!/@cloudscape-design.*\.css$/.test(id)) {
      return null
    }
    return readFileSync(id, 'utf8')
      .replace(/@font-face\s*{[^}]*}/g, '')
      .replace(
        /['"]Open Sans['"],\s*['"]Helvetica Neue['"],\s*Roboto,\s*Arial/g,
        'system-ui, "Helvetica Neue", Roboto, Arial',
      )
  },
}

// Every text file has its brotli form beside it, so that the server need not compress.
const brotli: Plugin = {
  name: 'brotli',
  apply: 'build',
  enforce: 'post',
  generateBundle(_, bundle) {
    for (const [name, file] of Object.entries(bundle)) {
      const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source)
      if (!/\.(js|css|html|svg|json)$/.test(name) || bytes.length < 1024) {
        continue
      }
      const source = brotliCompressSync(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      })
      this.emitFile({ type: 'asset', fileName: `${name}.br`, source })
    }
  },
}

export default defineConfig({
  base: './',
  plugins: [systemFonts, react(), brotli],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
  },
  // scripts/dev run beside vite: what is not a file of the console goes to the server.
  server: { proxy: { '/console/api': 'http://127.0.0.1:9324' } },
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

// Every text file has its brotli form beside it, so that the server need not compress. It is made of what was written: what
// plugins have of a bundle is not final, Vite still puts into it which files each page needs.
const brotli: Plugin = {
  name: 'brotli',
  apply: 'build',
  writeBundle({ dir = '' }, bundle) {
    for (const name of Object.keys(bundle)) {
      const path = join(dir, name)
      const bytes = readFileSync(path)
      if (!/\.(js|css|html|svg|json)$/.test(name) || bytes.length < 1024) {
        continue
      }
      const source = brotliCompressSync(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      })
      writeFileSync(`${path}.br`, source)
    }
  },
}

const components = 'node_modules/@cloudscape-design/components'

const forms = [
  'attribute-editor',
  'autosuggest',
  'calendar',
  'date-.*',
  'key-value-pairs',
  'multiselect',
  'progress-bar',
  'segmented-control',
  'steps',
  'tag-editor',
  'textarea',
  'tiles',
  'time-input',
  'wizard',
]

export default defineConfig({
  base: './',
  plugins: [systemFonts, react(), brotli],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      output: {
        // Few files, and those stay the same when a page changes: what comes from others is apart from what is ours.
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler|@tanstack)\/|vite\/preload-helper/ },
            {
              name: (id: string) => `sdk-${/@aws-sdk\/client-([\w-]+)/.exec(id)?.[1]}`,
              test: /node_modules\/@aws-sdk\/client-/,
              includeDependenciesRecursively: false,
            },
            { name: 'signer', test: /node_modules\/(@smithy\/(signature-v4|protocol-http|types)|@aws-crypto|tslib)\// },
            { name: 'sdk', test: /node_modules\/(@aws-sdk|@smithy|@aws)\// },
            {
              name: 'charts',
              test: new RegExp(
                `${components}/((?!area-chart/async-store).*-chart|internal/components/(cartesian-|chart-(?!series-)).*|.*d3-)`,
              ),
              includeDependenciesRecursively: false,
            },
            // Components that the first view does not need, and neither do its own components.
            {
              name: 'forms',
              test: new RegExp(`${components}/(${forms.join('|')})/`),
              includeDependenciesRecursively: false,
            },
            { name: 'cloudscape', test: /node_modules\/@cloudscape-design\// },
          ],
        },
      },
    },
  },
  // scripts/dev run beside vite: what is not a file of the console goes to the server.
  server: { proxy: { '/console/api': 'http://127.0.0.1:9324' } },
})

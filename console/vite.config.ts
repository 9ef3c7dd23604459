import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type HtmlTagDescriptor, type Plugin, type Rolldown } from 'vite'

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

// Cloudscape has three layouts of a page, and takes the one of the visual refresh. The others, and what only they use, are a
// fifth of its code. Without them, the page of a version that took another would fail at once.
const oneLayout: Plugin = {
  name: 'one-layout',
  enforce: 'pre',
  load: (id) => (otherLayouts.test(id) ? 'export default undefined' : null),
}

const otherLayouts = /@cloudscape-design\/components\/app-layout\/(classic|visual-refresh-toolbar\/index)\.js$/

// The page names what `main.ts` asks for when it is read, and the code of Home, so that the browser gets all of it at once.
const ahead: Plugin = {
  name: 'ahead',
  apply: 'build',
  transformIndexHtml: { order: 'post', handler: (html, { bundle = {} }) => tagsOf(html, bundle) },
}

const drawnFirst = /src\/(draw\.tsx|pages\/home\/index\.tsx)$/

function tagsOf(html: string, bundle: Rolldown.OutputBundle): HtmlTagDescriptor[] {
  const chunks = new Map(Object.values(bundle).flatMap((c) => (c.type === 'chunk' ? [[c.fileName, c] as const] : [])))
  const scripts = new Set<string>()
  const styles = new Set<string>()
  const add = (name: string) => {
    const chunk = chunks.get(name)
    if (!chunk || chunk.isEntry || scripts.has(name)) {
      return
    }
    scripts.add(name)
    for (const css of chunk.viteMetadata?.importedCss ?? []) {
      styles.add(css)
    }
    for (const imported of chunk.imports) {
      add(imported)
    }
  }
  for (const { fileName, facadeModuleId } of chunks.values()) {
    if (drawnFirst.test(facadeModuleId ?? '')) {
      add(fileName)
    }
  }
  return [
    ...[...scripts].filter((name) => !html.includes(name)).map((name) => link('modulepreload', name)),
    ...[...styles].map((name) => link('stylesheet', name)),
  ]
}

function link(rel: string, name: string): HtmlTagDescriptor {
  return { tag: 'link', attrs: { rel, crossorigin: true, href: `./${name}` }, injectTo: 'head' }
}

// The server embeds `dist`: each file of `built`, where Vite writes, compressed by gzip, which every browser accepts. A
// file that holds the right bytes already stays, since another version of Node.js may compress differently.
const pack: Plugin = {
  name: 'pack',
  apply: 'build',
  closeBundle() {
    const names = filesOf(built)
    const wanted = new Set(names.map((name) => `${name}.gz`))
    for (const name of filesOf(dist).filter((name) => !wanted.has(name))) {
      rmSync(join(dist, name))
    }
    for (const name of names) {
      const bytes = readFileSync(join(built, name))
      const packed = join(dist, `${name}.gz`)
      if (!holds(packed, bytes)) {
        mkdirSync(dirname(packed), { recursive: true })
        writeFileSync(packed, gzipSync(bytes, { level: 9, memLevel: 9 }))
      }
    }
  },
}

const built = fileURLToPath(new URL('built', import.meta.url))
const dist = fileURLToPath(new URL('dist', import.meta.url))

function filesOf(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
}

function holds(packed: string, bytes: Buffer): boolean {
  try {
    return gunzipSync(readFileSync(packed)).equals(bytes)
  } catch {
    return false // it is not there, or damaged
  }
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

const lists = [
  'collection-preferences',
  'content-layout',
  'form',
  'list',
  'modal',
  'pagination',
  'radio-group',
  'select',
  'tabs',
  'text-filter',
  'toggle',
  'token(-group)?',
  'internal/(hooks/use-virtual|vendor/react-virtual)',
  'internal/components/(autosuggest-input|button-trigger|selectable-item|sortable-area|token-list)',
]

const shared = [
  'api/(access|alarm|firing|keys|queues|queuestate)',
  'data/(each|format|growth)',
  'frame/(later|narrow|notices|preferences|quiet|router)',
  'parts/(empty|figure|noqueues|problem|refresh|sparkline|values)',
]

export default defineConfig({
  base: './',
  plugins: [systemFonts, oneLayout, react(), ahead, pack],
  build: {
    outDir: 'built',
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
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler|@tanstack)\// },
            {
              name: (id: string) => `sdk-${/@aws-sdk\/client-([\w-]+)/.exec(id)?.[1]}`,
              test: /node_modules\/@aws-sdk\/client-/,
              includeDependenciesRecursively: false,
            },
            // The code that makes requests, without anything that draws.
            {
              name: 'signer',
              test: /node_modules\/(@smithy\/(signature-v4|protocol-http|types)|@aws-crypto|tslib)\/|vite\/preload-helper/,
            },
            {
              name: 'first',
              test: /\/src\/(aws\/(call|failure|monitoring|patience|place|refusal|session|sluice)|api\/(early|queuepage))\.ts$/,
              includeDependenciesRecursively: false,
            },
            { name: 'sdk', test: /node_modules\/(@aws-sdk|@smithy|@aws)\// },
            {
              name: 'charts',
              test: new RegExp(
                `${components}/((?!area-chart/async-store).*-chart|internal/components/(cartesian-|chart-(?!series-)).*|.*d3-)`,
              ),
              includeDependenciesRecursively: false,
            },
            // Components that the first view does not need, and neither do its own components: those of forms and of lists.
            {
              name: 'forms',
              test: new RegExp(`${components}/(${forms.join('|')})/`),
              includeDependenciesRecursively: false,
            },
            {
              name: 'lists',
              test: new RegExp(
                `${components}/(${lists.join('|')})[/.]|node_modules/@(dnd-kit|cloudscape-design/collection-hooks)/`,
              ),
              includeDependenciesRecursively: false,
            },
            // Parts of pages that Home takes: small files, each of which would be a request.
            {
              name: 'shared',
              test: new RegExp(`/src/(${shared.join('|')})[.]tsx?$`),
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

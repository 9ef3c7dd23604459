import type { ComponentType } from 'react'

/** Page is a place of the console. Its component is loaded when it is first opened, with the SDK's clients it needs. */
export interface Page {
  /** path is its pattern: /queues/:queue/:tab? has the parameter queue, and perhaps tab. The first that matches is shown. */
  path: string
  title: string
  /** under is the page that the breadcrumbs name before it. */
  under?: string
  load: () => Promise<{ default: ComponentType<PageProps> }>
}

/** PageProps are what the frame gives a page. */
export interface PageProps {
  parameters: Record<string, string>
}

/** pages are all pages: one line each, beside those of its section. */
export const pages: Page[] = [
  // Queues
  { path: '/queues', title: 'Queues', load: () => import('./pages/queues') },
  { path: '/create-queue', title: 'Create queue', under: '/queues', load: () => import('./pages/createqueue') },
  {
    path: '/queues/:queue/edit',
    title: 'Edit',
    under: '/queues/:queue/:tab?',
    load: () => import('./pages/createqueue'),
  },
  { path: '/queues/:queue/:tab?', title: ':queue', under: '/queues', load: () => import('./pages/queue') },
]

/** sections are the entries of the side navigation. */
export const sections: { title: string; items: { text: string; path: string }[] }[] = [
  { title: 'Messages', items: [{ text: 'Queues', path: '/queues' }] },
]

/** home is where the console begins. */
export const home = '/queues'

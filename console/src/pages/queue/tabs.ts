import type { ComponentType } from 'react'

/** TabProps are what every tab of a queue is given. */
export interface TabProps {
  queue: string
  fifo: boolean
}

interface Tab {
  id: string
  label: string
  /** on says which queues have it; all, if it is left out. */
  on?: (queue: { fifo: boolean; deadLetters: boolean }) => boolean
  load: () => Promise<{ default: ComponentType<TabProps> }>
}

/** tabs are what can be seen and done with one queue: one line each. */
export const tabs: Tab[] = [
  { id: 'overview', label: 'Overview', load: () => import('./overview') },
  { id: 'messages', label: 'Send and receive', load: () => import('./messages') },
  { id: 'browse', label: 'Look inside', load: () => import('./browse') },
  { id: 'redrive', label: 'Redrive', load: () => import('./redrive') },
  { id: 'groups', label: 'Groups', on: (q) => q.fifo, load: () => import('./groups') },
  { id: 'consumers', label: 'Consumers', load: () => import('./consumers') },
  { id: 'monitoring', label: 'Monitoring', load: () => import('./monitoring') },
  { id: 'access', label: 'Access', load: () => import('./access') },
  { id: 'tags', label: 'Tags', load: () => import('./tags') },
]

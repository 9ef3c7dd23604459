import { type Later, part } from '../../frame/later'
import type { TabProps } from './tab'

interface Tab {
  id: string
  label: string
  /** on says which queues have it; all, if it is left out. */
  on?: (queue: { fifo: boolean; deadLetters: boolean }) => boolean
  content: Later<TabProps>
}

/** tabs are what can be seen and done with one queue: one line each. */
export const tabs: Tab[] = [
  { id: 'overview', label: 'Overview', content: part(() => import('./overview')) },
  { id: 'messages', label: 'Send and receive', content: part(() => import('./messages')) },
  { id: 'browse', label: 'Browse messages', content: part(() => import('./browse')) },
  { id: 'redrive', label: 'Redrive', content: part(() => import('./redrive')) },
  { id: 'groups', label: 'Groups', on: (q) => q.fifo, content: part(() => import('./groups')) },
  { id: 'consumers', label: 'Consumers', content: part(() => import('./consumers')) },
  { id: 'monitoring', label: 'Monitoring', content: part(() => import('./monitoring')) },
  { id: 'access', label: 'Access', content: part(() => import('./access')) },
  { id: 'tags', label: 'Tags', content: part(() => import('./tags')) },
]

/** prepareTab loads the code of the tab that an address names. */
export function prepareTab({ tab }: Record<string, string>) {
  return (tabs.find((t) => t.id === tab) ?? tabs[0])?.content.prepare()
}

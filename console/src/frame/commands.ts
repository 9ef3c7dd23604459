import { leave } from '../aws/session'
import { sections } from '../routes'
import { pageKeys } from './keys'
import { showOverlay } from './overlay'
import { type Preferences, setPreferences } from './preferences'
import { ranked } from './rank'
import { address, go } from './router'

/** Command is an entry of the palette. */
export interface Command {
  id: string
  group: string
  text: string
  /** hint stands behind it: its key, or where it leads. */
  hint?: string
  act: () => void
}

/** pageCommands open the pages of the navigation. */
export function pageCommands(): Command[] {
  const keyOf = (path: string) => Object.entries(pageKeys).find(([, p]) => p === path)?.[0]
  return sections.flatMap((section) =>
    section.items.map(({ text, path }) => {
      const key = keyOf(path)
      return { id: path, group: 'Pages', text, ...(key && { hint: `g ${key}` }), act: () => go(path) }
    }),
  )
}

/** actionCommands do what needs no page before. */
export function actionCommands(preferences: Preferences): Command[] {
  const open = (text: string, path: string, hint?: string): Command => ({
    id: path,
    group: 'Actions',
    text,
    ...(hint && { hint }),
    act: () => go(path),
  })
  const set = (text: string, some: Partial<Preferences>): Command => ({
    id: text,
    group: 'Actions',
    text,
    act: () => setPreferences(some),
  })
  return [
    open('Create queue', '/create-queue', 'c'),
    open('Create topic', '/create-topic'),
    open('Create subscription', '/create-subscription'),
    open('Create alarm', '/create-alarm'),
    set(preferences.theme === 'dark' ? 'Light colours' : 'Dark colours', {
      theme: preferences.theme === 'dark' ? 'light' : 'dark',
    }),
    set(preferences.zone === 'utc' ? 'Show local times' : 'Show times in UTC', {
      zone: preferences.zone === 'utc' ? 'local' : 'utc',
    }),
    preferences.refresh > 0 ? set('Stop refreshing', { refresh: 0 }) : set('Refresh every 5 seconds', { refresh: 5 }),
    { id: 'keys', group: 'Actions', text: 'Show the keys', hint: '?', act: () => showOverlay('keys') },
    { id: 'leave', group: 'Actions', text: 'Sign out', act: () => void leave() },
  ]
}

/** queueTabs are the tabs of a queue that can be opened directly. */
const queueTabs: [string, string][] = [
  ['messages', 'Send and receive messages'],
  ['browse', 'Browse messages'],
  ['redrive', 'Redrive'],
  ['consumers', 'Consumers'],
  ['monitoring', 'Monitoring'],
  ['access', 'Access'],
  ['edit', 'Edit'],
]

/** queueCommands open a queue, and the tabs of the current one. */
export function queueCommands(queue: string, here: boolean): Command[] {
  const whole: Command = {
    id: `queue ${queue}`,
    group: 'Queues',
    text: queue,
    act: () => go(address(['queues', queue])),
  }
  if (!here) {
    return [whole]
  }
  return queueTabs.map(([tab, text]) => ({
    id: `queue ${queue} ${tab}`,
    group: 'This queue',
    text: `${text}: ${queue}`,
    act: () => go(address(['queues', queue, tab])),
  }))
}

/** topicCommand opens a topic. */
export function topicCommand(topic: string): Command {
  return { id: `topic ${topic}`, group: 'Topics', text: topic, act: () => go(address(['topics', topic])) }
}

/** matching returns the commands that match a text, the best first. */
export const matching = (commands: Command[], text: string) => ranked(commands, (c) => c.text, text)

import { sections } from '../routes'

/** commandKey is the key that opens the palette, as this machine's keyboard names it. */
export const commandKey = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'

/** pageKeys are the keys that open pages, pressed after g. */
export const pageKeys: Record<string, string> = {
  h: '/home',
  q: '/queues',
  t: '/topics',
  s: '/subscriptions',
  m: '/monitoring',
  a: '/alarms',
  e: '/activity',
  n: '/cluster',
  u: '/users',
  p: '/policies',
}

/** keyWords describe the keys, for the list that ? shows. */
export const keyWords: { keys: string[]; does: string; single: boolean }[] = [
  { keys: commandKey.split(' '), does: 'Open the command palette: queues, topics, pages, actions', single: false },
  { keys: ['?'], does: 'Show these keys', single: true },
  { keys: ['/'], does: 'Find: go to the search field of the page', single: true },
  { keys: ['r'], does: 'Refresh the page', single: true },
  { keys: ['c'], does: 'Create a queue', single: true },
  ...Object.entries(pageKeys).map(([key, path]) => ({
    keys: ['g', key],
    does: `Go to ${titleOf(path)}`,
    single: true,
  })),
  { keys: ['Esc'], does: 'Close the dialog or menu', single: false },
]

function titleOf(path: string): string {
  return sections.flatMap((s) => s.items).find((item) => item.path === path)?.text ?? path
}

/** typing reports whether the keys that are pressed now mean something to what has the focus: a field, a menu, a list. */
export function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) {
    return false
  }
  const kind = target instanceof HTMLInputElement ? target.type : ''
  return (
    target.isContentEditable ||
    target.matches('textarea, select') ||
    (kind !== '' && !['checkbox', 'radio', 'button', 'submit'].includes(kind)) ||
    target.closest('[role=listbox], [role=menu], [role=combobox], [role=application], [aria-haspopup]') !== null
  )
}

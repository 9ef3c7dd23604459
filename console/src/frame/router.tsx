import { useSyncExternalStore } from 'react'

// Addresses are in the fragment, #/queues/orders?tab=1: they are the same below every prefix, survive signing in, and need
// nothing of the server.

/** Place is where the reader is. */
export interface Place {
  path: string
  query: URLSearchParams
}

let hash = location.hash
let place = parse(hash)

function parse(text: string): Place {
  const [path = '', query = ''] = text.replace(/^#/, '').split('?', 2)
  return { path: path || '/', query: new URLSearchParams(query) }
}

/** placeNow is where the reader is now, for what is not drawn. */
export function placeNow(): Place {
  if (location.hash !== hash) {
    hash = location.hash
    place = parse(hash)
  }
  return place
}

function subscribe(listener: () => void) {
  window.addEventListener('hashchange', listener)
  window.addEventListener('popstate', listener)
  return () => {
    window.removeEventListener('hashchange', listener)
    window.removeEventListener('popstate', listener)
  }
}

export function usePlace(): Place {
  return useSyncExternalStore(subscribe, placeNow)
}

/** usePath is for what does not depend on the rest of the place, which changes with each letter that is typed into a filter. */
export function usePath(): string {
  return useSyncExternalStore(subscribe, () => placeNow().path)
}

/** go opens an address such as /queues, or #/queues. */
export function go(address: string, options: { replace?: boolean } = {}) {
  const target = address.startsWith('#') ? address : `#${address}`
  if (options.replace) {
    history.replaceState(null, '', target)
    window.dispatchEvent(new PopStateEvent('popstate'))
  } else {
    location.hash = target
  }
}

/** address builds an address from its parts and what the page should show: address(['queues', name], { find: 'x' }). */
export function address(parts: string[], query: Record<string, string | undefined> = {}): string {
  const set = Object.entries(query).filter((e): e is [string, string] => e[1] !== undefined && e[1] !== '')
  const text = new URLSearchParams(set).toString()
  return `#/${parts.map(encodeURIComponent).join('/')}${text && `?${text}`}`
}

/** match returns the parameters of a pattern such as /queues/:queue/:tab?, if the path is such a one. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.replace(/\/$/, '').split('/')
  if (given.length > wanted.length) {
    return undefined
  }
  const parameters: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i]
    if (value === undefined) {
      if (!part.endsWith('?')) {
        return undefined
      }
    } else if (part.startsWith(':')) {
      try {
        parameters[part.replace(/\W/g, '')] = decodeURIComponent(value)
      } catch {
        return undefined
      }
    } else if (part !== value) {
      return undefined
    }
  }
  return parameters
}

/** fill puts parameters into a pattern. */
export function fill(pattern: string, parameters: Record<string, string>): string {
  return pattern
    .replace(/\/:\w+\?/g, '')
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''))
}

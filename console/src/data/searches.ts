/** most is how many searches a browser keeps. */
const most = 12

const key = 'sluice-searches'

/** withSearch puts a search before the others, without keeping one twice or too many. */
export const withSearch = (searches: string[], filter: string) =>
  [filter, ...searches.filter((s) => s !== filter)].slice(0, most)

/** readSearches reads what keepSearches has written: nothing, if it is no list of texts. */
export function readSearches(text: string | null): string[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(list) ? list.filter((s) => typeof s === 'string').slice(0, most) : []
  } catch {
    return []
  }
}

/** savedSearches returns the searches that a person has saved in this browser, the newest first. */
export function savedSearches(): string[] {
  try {
    return readSearches(localStorage.getItem(key))
  } catch {
    return []
  }
}

/** keepSearches saves them, if the browser keeps anything. */
export function keepSearches(searches: string[]) {
  try {
    localStorage.setItem(key, JSON.stringify(searches))
  } catch {
    // They hold until the page is closed.
  }
}

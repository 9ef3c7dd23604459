import { home, pages } from '../routes'
import type { Page } from './page'
import { fill, match, placeNow } from './router'

/** Found is the page that an address names, with its parameters. */
export interface Found {
  page: Page
  parameters: Record<string, string>
}

export function find(path: string): Found | undefined {
  for (const page of pages) {
    const parameters = match(page.path, path)
    if (parameters) {
      return { page, parameters }
    }
  }
  return undefined
}

/** prepare loads the code of the page that will be shown first. */
export function prepare() {
  const found = find(placeNow().path) ?? find(home)
  void found?.page.component.prepare()
  void found?.page.prepare?.(found.parameters)
}

/** trail returns the breadcrumbs of a page. In a title, :queue stands for that parameter. */
export function trail(page: Page, parameters: Record<string, string>): { text: string; href: string }[] {
  const above = page.under ? pages.find((p) => p.path === page.under) : undefined
  return [
    ...(above ? trail(above, parameters) : []),
    {
      text: page.title.replace(/:(\w+)/g, (_, name: string) => parameters[name] ?? ''),
      href: `#${fill(page.path, parameters)}`,
    },
  ]
}

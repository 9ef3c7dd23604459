import type { Later } from './later'

/** Page is a page of the console. Its code is loaded when it is first opened, with the SDK's clients it needs. */
export interface Page {
  /** path is its pattern: /queues/:queue/:tab? has the parameter queue, and perhaps tab. The first that matches is shown. */
  path: string
  title: string
  /** under is the page that the breadcrumbs name before it. */
  under?: string
  component: Later<PageProps>
  /** form says that the page is a form, which would be hard to read as wide as the window. */
  form?: boolean
  /** prepare loads what the page has beside its component. */
  prepare?: (parameters: Record<string, string>) => Promise<void> | undefined
}

/** PageProps are the properties of a page. */
export interface PageProps {
  parameters: Record<string, string>
}

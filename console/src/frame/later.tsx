import Spinner from '@cloudscape-design/components/spinner'
import { type ComponentType, type ReactNode, useEffect, useReducer } from 'react'

/** Later is a component whose code is loaded when it is first shown, or before, by code that knows that it will be. */
export type Later<Props> = ComponentType<Props> & {
  /** prepare loads the code, if that has not begun. */
  prepare: () => Promise<void>
}

/**
 * later makes one. A part that cannot be loaded fails when it is shown; until it has come, there is the substitute. React's lazy would
 * do, but for a pause: what comes after something stood in its place, React shows a third of a second later.
 */
export function later<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  substitute?: ReactNode,
): Later<Props> {
  let loaded: ComponentType<Props> | undefined
  let failed: { error: unknown } | undefined
  let loading: Promise<void> | undefined

  function prepare() {
    loading ??= load().then(
      (module) => {
        loaded = module.default
      },
      (error: unknown) => {
        failed = { error }
      },
    )
    return loading
  }

  function Shown(props: Props) {
    const [, lookAgain] = useReducer((n: number) => n + 1, 0)
    const Component = loaded
    useEffect(() => {
      // The code may have come since the substitute was drawn.
      if (!Component) {
        void prepare().then(lookAgain)
      }
    }, [])
    if (failed) {
      throw failed.error
    }
    return Component ? <Component {...props} /> : substitute
  }
  return Object.assign(Shown, { prepare })
}

/** part makes a page, or a part of one. That it is coming is said only if it takes a while. */
export function part<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>): Later<Props> {
  return later(
    load,
    <div className="coming">
      <Spinner size="large" />
    </div>,
  )
}

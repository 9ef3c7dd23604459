import SpaceBetween from '@cloudscape-design/components/space-between'
import { Children, isValidElement, type ReactNode } from 'react'
import { useNarrow } from '../frame/narrow'

/**
 * Bar is the row of buttons in the header of a table. On a phone, where they would take half of the screen, those are left out that
 * can do nothing before a row is chosen.
 */
export function Bar({ children }: { children: ReactNode }) {
  const narrow = useNarrow()
  return (
    <SpaceBetween direction="horizontal" size="xs" alignItems="center">
      {narrow ? Children.toArray(children).filter((button) => !isIdle(button)) : children}
    </SpaceBetween>
  )
}

interface ButtonLike {
  disabled?: boolean
  disabledReason?: string
  variant?: string
}

/** isIdle reports whether a button waits for a choice. One that is refused stays, with the reason. */
function isIdle(button: ReactNode): boolean {
  if (!isValidElement<ButtonLike>(button)) {
    return false
  }
  const { disabled, disabledReason, variant } = button.props
  return disabled === true && disabledReason === undefined && variant !== 'primary'
}

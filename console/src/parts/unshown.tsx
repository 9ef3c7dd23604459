import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import type { ReactNode } from 'react'

/** Unshown is the page of something that cannot be shown: its name, as on the page that it would be, and the reason. */
export function Unshown({ name, children }: { name: string; children: ReactNode }) {
  return (
    <SpaceBetween size="l">
      <Header variant="h1">
        <span className="break">{name}</span>
      </Header>
      {children}
    </SpaceBetween>
  )
}

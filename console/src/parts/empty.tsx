import Box from '@cloudscape-design/components/box'
import SpaceBetween from '@cloudscape-design/components/space-between'
import type { ReactNode } from 'react'

/** Empty replaces an empty list: it says what would be here, and how to create it. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <Box textAlign="center" color="inherit" margin={{ vertical: 'l' }}>
      <SpaceBetween size="s">
        <Box variant="strong" color="inherit">
          {title}
        </Box>
        {children && (
          <Box variant="p" color="inherit">
            {children}
          </Box>
        )}
        {action}
      </SpaceBetween>
    </Box>
  )
}

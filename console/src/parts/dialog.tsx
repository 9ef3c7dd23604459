import Button from '@cloudscape-design/components/button'
import Modal, { type ModalProps } from '@cloudscape-design/components/modal'
import SpaceBetween from '@cloudscape-design/components/space-between'
import type { ReactNode } from 'react'
import { Problem } from './problem'

interface DialogProps {
  title: string
  size?: ModalProps.Size
  children: ReactNode
  /** more are buttons between Cancel and the one that acts. */
  more?: ReactNode
  /** yes is what the button says that acts: Delete 3 queues. */
  yes: string
  act: () => void
  close: () => void
  busy: boolean
  /** ready says that it can be done: nothing is missing or wrong. */
  ready?: boolean
  error?: unknown
  /** failed says what has not happened, above the error. */
  failed?: string
}

/** Dialog is the frame of all that asks before it acts. It stays open, with the error, if it is refused. */
export function Dialog({
  title,
  size = 'medium',
  children,
  more,
  yes,
  act,
  close,
  busy,
  ready = true,
  error,
  failed,
}: DialogProps) {
  return (
    <Modal
      visible
      size={size}
      header={title}
      onDismiss={close}
      footer={
        <div className="flow">
          <Button variant="link" onClick={close}>
            Cancel
          </Button>
          {more}
          <Button variant="primary" loading={busy} disabled={!ready} onClick={act}>
            {yes}
          </Button>
        </div>
      }
    >
      <SpaceBetween size="m">
        {children}
        <Problem error={error} {...(failed && { what: failed })} />
      </SpaceBetween>
    </Modal>
  )
}

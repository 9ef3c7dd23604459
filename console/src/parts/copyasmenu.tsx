import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import Modal from '@cloudscape-design/components/modal'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useState } from 'react'
import { languages, type Made } from '../data/copyas'
import { Copy } from './copy'

/** CopyAs shows a queue as the command or the code that makes it. */
export function CopyAs({ made, disabled = false }: { made: () => Made; disabled?: boolean }) {
  const [shown, setShown] = useState<{ title: string; text: string }>()
  return (
    <>
      <ButtonDropdown
        disabled={disabled}
        items={languages.map(({ id, text }) => ({ id, text }))}
        onItemClick={({ detail }) => {
          const language = languages.find((l) => l.id === detail.id)
          if (language) {
            setShown({ title: language.text, text: language.write(made()) })
          }
        }}
      >
        Copy as
      </ButtonDropdown>
      {shown && (
        <Modal
          visible
          size="large"
          header={`This queue in ${shown.title}`}
          onDismiss={() => setShown(undefined)}
          footer={
            <Box float="right">
              <SpaceBetween direction="horizontal" size="xs">
                <Copy text={shown.text} />
                <Button variant="primary" onClick={() => setShown(undefined)}>
                  Done
                </Button>
              </SpaceBetween>
            </Box>
          }
        >
          <pre className="code">{shown.text}</pre>
        </Modal>
      )}
    </>
  )
}

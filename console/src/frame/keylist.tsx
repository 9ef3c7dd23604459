import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Modal from '@cloudscape-design/components/modal'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Toggle from '@cloudscape-design/components/toggle'
import { keyWords } from './keys'
import { setPreferences, usePreferences } from './preferences'

/** KeyList shows the keys that work on every page. */
export default function KeyList({ close }: { close: () => void }) {
  const { singleKeys } = usePreferences()
  return (
    <Modal
      visible
      header="Keys"
      onDismiss={close}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={close}>
            Done
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <dl className="keys">
          {keyWords.map(({ keys, does, single }) => (
            <div key={keys.join(' ')} className={single && !singleKeys ? 'off' : undefined}>
              <dt>
                {keys.map((key, i) => (
                  <span key={key}>
                    {i > 0 && ' '}
                    <kbd>{key}</kbd>
                  </span>
                ))}
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <Toggle
          checked={singleKeys}
          description="Turn them off if a screen reader or speech input needs these keys."
          onChange={({ detail }) => setPreferences({ singleKeys: detail.checked })}
        >
          Keys without Ctrl or Cmd
        </Toggle>
      </SpaceBetween>
    </Modal>
  )
}

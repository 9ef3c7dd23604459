import Alert from '@cloudscape-design/components/alert'
import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import Modal from '@cloudscape-design/components/modal'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Textarea from '@cloudscape-design/components/textarea'
import { useState } from 'react'
import { AttributeRows, attributesOfRows, rowsOfAttributes } from '../../../parts/attributerows'
import { difference } from '../../../parts/diff'
import { jsonError, pretty } from '../../../parts/json'
import type { Attribute, Message } from '../../../parts/message'
import { Problem } from '../../../parts/problem'

interface Edit {
  Body?: string
  SetAttributes?: Record<string, Attribute>
  RemoveAttributes?: string[]
}

interface EditMessageProps {
  message: Message
  resend: (edit: Edit) => Promise<void>
  close: () => void
}

/** EditMessage mends a copy of a dead letter, shows what is different, and sends it again. */
export function EditMessage({ message, resend, close }: EditMessageProps) {
  const before = message.Body
  const [body, setBody] = useState(before ?? '')
  const [old] = useState(() => rowsOfAttributes(message.MessageAttributes ?? {}))
  const [rows, setRows] = useState(old)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const changes = changesOf(attributesOfRows(old), attributesOfRows(rows))
  const same = body === before && Object.keys(changes).length === 0
  const broken = before !== undefined && jsonError(before) === undefined && jsonError(body) !== undefined

  async function submit() {
    setBusy(true)
    setError(undefined)
    try {
      await resend({ ...(body !== before && { Body: body }), ...changes })
      close()
    } catch (e) {
      setError(e)
      setBusy(false)
    }
  }

  return (
    <Modal
      visible
      size="max"
      header="Edit and resend"
      onDismiss={close}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={close}>
              Cancel
            </Button>
            <Button
              variant="primary"
              loading={busy}
              disabled={same || body === '' || before === undefined}
              onClick={submit}
            >
              Resend
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {before === undefined && (
          <Alert type="warning">To edit a message takes the permission sluice:PeekMessageBody.</Alert>
        )}
        <FormField
          label="Message body"
          stretch
          warningText={broken && jsonError(body)}
          secondaryControl={
            <Button disabled={jsonError(body) !== undefined} onClick={() => setBody(pretty(body))}>
              Format
            </Button>
          }
        >
          <Textarea value={body} rows={10} spellcheck={false} onChange={({ detail }) => setBody(detail.value)} />
        </FormField>
        <FormField label="Message attributes" stretch>
          <AttributeRows rows={rows} change={setRows} />
        </FormField>
        {before !== undefined && body !== before && (
          <div>
            <Box variant="awsui-key-label">What is different</Box>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
            <pre className="code body" tabIndex={0}>
              {difference(pretty(before), pretty(body)).map((line, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
                <span key={i} className={line.kind === '+' ? 'added' : line.kind === '-' ? 'removed' : undefined}>
                  {`${line.kind} ${line.text}\n`}
                </span>
              ))}
            </pre>
          </div>
        )}
        <Box color="text-body-secondary" fontSize="body-s">
          The copy that is resent has a new ID; the dead letter is gone once the copy is stored. Who has edited is in
          the trail.
        </Box>
        {error !== undefined && <Problem error={error} what="Not resent" />}
      </SpaceBetween>
    </Modal>
  )
}

function changesOf(before: Record<string, Attribute>, after: Record<string, Attribute>): Edit {
  const set = Object.entries(after).filter(([name, a]) => JSON.stringify(before[name]) !== JSON.stringify(a))
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  return {
    ...(set.length > 0 && { SetAttributes: Object.fromEntries(set) }),
    ...(removed.length > 0 && { RemoveAttributes: removed }),
  }
}

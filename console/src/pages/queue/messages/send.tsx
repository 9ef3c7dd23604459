import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import ExpandableSection from '@cloudscape-design/components/expandable-section'
import Form from '@cloudscape-design/components/form'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import Link from '@cloudscape-design/components/link'
import Modal from '@cloudscape-design/components/modal'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Textarea from '@cloudscape-design/components/textarea'
import { useState } from 'react'
import { refused, useRefusals } from '../../../api/access'
import { useAttributes } from '../../../api/attributes'
import { keys } from '../../../api/keys'
import { sendMessage, sendMessages } from '../../../api/messages'
import { useAction } from '../../../api/useaction'
import { fromBase64 } from '../../../data/decode'
import { bytes } from '../../../data/format'
import { goToFirstWrong } from '../../../frame/firstwrong'
import { useNarrow } from '../../../frame/narrow'
import { AmountInput } from '../../../parts/amount'
import { AttributeRows, attributesOfRows, type Row } from '../../../parts/attributerows'
import { Pairs } from '../../../parts/pairs'
import { Problem } from '../../../parts/problem'
import { Rows } from '../../../parts/rows'
import { Time } from '../../../parts/values'
import type { TabProps } from '../tab'

interface Draft {
  body: string
  delay: string
  unit: 'seconds' | 'minutes'
  group: string
  dedup: string
  rows: Row[]
  copies: string
}

const blank: Draft = { body: '', delay: '0', unit: 'seconds', group: '', dedup: '', rows: [], copies: '1' }

interface Sent {
  key: string
  at: number
  draft: Draft
  ids: string[]
  md5: string | undefined
  md5OfAttributes: string | undefined
  sequence: string | undefined
}

/** Send is the form of a message. */
export function Send({ queue, fifo }: TabProps) {
  const [draft, setDraft] = useState(blank)
  const refusals = useRefusals([queue])
  const { busy, error, run } = useAction()
  const [history, setHistory] = useState<Sent[]>([])
  const [shown, setShown] = useState<Sent>()
  const [tried, setTried] = useState(false)
  const narrow = useNarrow()
  const attributes = useAttributes(queue)
  const lacksDedup = fifo && draft.dedup === '' && attributes.data?.ContentBasedDeduplication === 'false'
  const set = (some: Partial<Draft>) => setDraft((old) => ({ ...old, ...some }))
  const size = new Blob([draft.body]).size
  const lacks = draft.body === '' ? 'Enter a message body.' : fifo && !draft.group ? 'Enter a message group ID.' : ''
  const ready = lacks === ''

  async function send() {
    setTried(true)
    if (lacksDedup) {
      goToFirstWrong()
      return
    }
    await run(
      async () => {
        const sent = await deliver(queue, fifo, draft)
        setHistory((old) => [sent, ...old].slice(0, 20))
        return {
          header: sent.ids.length === 1 ? 'Your message has been sent' : `${sent.ids.length} messages have been sent`,
          content: sent.ids.length === 1 ? `Its ID is ${sent.ids[0]}.` : undefined,
          action: { text: 'View details', do: () => setShown(sent) },
          once: true,
        }
      },
      { stale: [keys.queueState(queue)] },
    )
  }

  return (
    <Container
      header={
        <Header
          variant="h2"
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button onClick={() => setDraft(blank)}>{narrow ? 'Clear' : 'Clear content'}</Button>
              <Button
                variant="primary"
                disabled={!ready}
                disabledReason={lacks}
                {...refused(refusals, 'sqs:SendMessage')}
                loading={busy}
                onClick={send}
              >
                Send message
              </Button>
            </SpaceBetween>
          }
        >
          Send a message
        </Header>
      }
    >
      <Form>
        <SpaceBetween size="m">
          {error !== undefined && <Problem error={error} what="Not sent" />}
          <FormField label="Message body" stretch constraintText={bytes(size)}>
            <Textarea
              value={draft.body}
              rows={5}
              spellcheck={false}
              placeholder="Any text: JSON, XML, base64"
              onChange={({ detail }) => set({ body: detail.value })}
              onKeyDown={({ detail }) =>
                detail.key === 'Enter' && (detail.ctrlKey || detail.metaKey) && ready && send()
              }
            />
          </FormField>
          <ColumnLayout columns={3}>
            {fifo ? (
              <>
                <FormField label="Message group ID" constraintText="Messages of one group stay in order.">
                  <Input value={draft.group} onChange={({ detail }) => set({ group: detail.value })} />
                </FormField>
                <FormField
                  label="Message deduplication ID"
                  errorText={tried && lacksDedup ? 'The queue has no content-based deduplication: enter an ID.' : ''}
                  constraintText="Optional with content-based deduplication."
                >
                  <Input value={draft.dedup} onChange={({ detail }) => set({ dedup: detail.value })} />
                </FormField>
              </>
            ) : (
              <FormField
                label="Delivery delay"
                constraintText="Delay delivery of this message by 0 seconds to 15 minutes."
              >
                <AmountInput
                  label="Delivery delay"
                  amount={{ value: draft.delay, unit: draft.unit }}
                  units={['seconds', 'minutes']}
                  change={({ value, unit }) => set({ delay: value, unit: unit as Draft['unit'] })}
                />
              </FormField>
            )}
            <FormField
              label="Copies"
              constraintText={
                fifo ? 'From 1 to 100. Each copy gets a number after the deduplication ID.' : 'From 1 to 100.'
              }
            >
              <Input
                type="number"
                inputMode="numeric"
                value={draft.copies}
                onChange={({ detail }) => set({ copies: detail.value })}
              />
            </FormField>
          </ColumnLayout>
          <ExpandableSection
            headerText="Message attributes"
            headerCounter={`(${draft.rows.length})`}
            headingTagOverride="h3"
          >
            <AttributeRows rows={draft.rows} change={(rows) => set({ rows })} />
          </ExpandableSection>
          {history.length > 0 && (
            <ExpandableSection
              headerText="Sent from here"
              headerCounter={`(${history.length})`}
              headingTagOverride="h3"
            >
              <Rows
                variant="embedded"
                items={history}
                trackBy="key"
                ariaLabels={{ tableLabel: 'Messages sent from here' }}
                columnDefinitions={[
                  { id: 'at', header: 'Sent', cell: (s) => <Time at={s.at} />, width: 190 },
                  {
                    id: 'id',
                    header: 'ID',
                    isRowHeader: true,
                    cell: (s) => (
                      <Link
                        href="#"
                        onFollow={(e) => {
                          e.preventDefault()
                          setShown(s)
                        }}
                      >
                        {s.ids.length === 1 ? s.ids[0] : `${s.ids.length} messages`}
                      </Link>
                    ),
                  },
                  {
                    id: 'body',
                    header: 'Body',
                    cell: (s) => <span className="code preview">{s.draft.body.slice(0, 200)}</span>,
                  },
                  {
                    id: 'again',
                    header: 'Again',
                    cell: (s) => (
                      <Button variant="inline-link" onClick={() => setDraft(s.draft)}>
                        Use again
                      </Button>
                    ),
                  },
                ]}
              />
            </ExpandableSection>
          )}
        </SpaceBetween>
      </Form>
      {shown && <SentDetails sent={shown} close={() => setShown(undefined)} />}
    </Container>
  )
}

function SentDetails({ sent, close }: { sent: Sent; close: () => void }) {
  const text = (t: string | undefined) => <span className="break">{t}</span>
  return (
    <Modal
      visible
      header="Message sent"
      onDismiss={close}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={close}>
            Done
          </Button>
        </Box>
      }
    >
      <Pairs
        items={[
          { label: sent.ids.length === 1 ? 'Message ID' : 'Message IDs', value: text(sent.ids.join(' ')) },
          ...(sent.md5 ? [{ label: 'MD5 of message body', value: text(sent.md5) }] : []),
          ...(sent.md5OfAttributes ? [{ label: 'MD5 of message attributes', value: text(sent.md5OfAttributes) }] : []),
          ...(sent.sequence ? [{ label: 'Sequence number', value: text(sent.sequence) }] : []),
        ]}
      />
    </Modal>
  )
}

async function deliver(queue: string, fifo: boolean, draft: Draft): Promise<Sent> {
  const copies = Number(draft.copies)
  const delay = Number(draft.delay) * (draft.unit === 'minutes' ? 60 : 1)
  if (!Number.isInteger(copies) || copies < 1 || copies > 100) {
    throw new Error('The number of copies must be between 1 and 100.')
  }
  if (!Number.isInteger(delay) || delay < 0 || delay > 900) {
    throw new Error('The delivery delay must be between 0 seconds and 15 minutes.')
  }
  const attributes = Object.fromEntries(
    Object.entries(attributesOfRows(draft.rows)).map(([name, a]) => [
      name,
      a.BinaryValue === undefined
        ? { DataType: a.DataType, StringValue: a.StringValue ?? '' }
        : { DataType: a.DataType, BinaryValue: fromBase64(a.BinaryValue) ?? new Uint8Array() },
    ]),
  )
  const message = (suffix: string) => ({
    MessageBody: draft.body,
    MessageAttributes: attributes,
    ...(fifo ? { MessageGroupId: draft.group } : { DelaySeconds: delay }),
    ...(fifo && draft.dedup && { MessageDeduplicationId: draft.dedup + suffix }),
  })
  const sent: Sent = {
    key: crypto.getRandomValues(new Uint32Array(2)).join(),
    at: Date.now(),
    draft,
    ids: [],
    md5: undefined,
    md5OfAttributes: undefined,
    sequence: undefined,
  }
  if (copies === 1) {
    const out = await sendMessage(queue, message(''))
    return {
      ...sent,
      ids: [out.MessageId ?? ''],
      md5: out.MD5OfMessageBody,
      md5OfAttributes: out.MD5OfMessageAttributes,
      sequence: out.SequenceNumber,
    }
  }
  for (let first = 0; first < copies; first += 10) {
    const entries = Array.from({ length: Math.min(10, copies - first) }, (_, i) => ({
      Id: String(i),
      ...message(`-${first + i + 1}`),
    }))
    const out = await sendMessages(queue, entries)
    sent.ids.push(...(out.Successful ?? []).map((s) => s.MessageId ?? ''))
    const failed = out.Failed?.[0]
    if (failed) {
      throw new Error(`${sent.ids.length} of ${copies} were sent. ${failed.Message ?? failed.Code}`)
    }
  }
  return sent
}

import Alert from '@cloudscape-design/components/alert'
import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import Link from '@cloudscape-design/components/link'
import Popover from '@cloudscape-design/components/popover'
import SegmentedControl from '@cloudscape-design/components/segmented-control'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import Table from '@cloudscape-design/components/table'
import Toggle from '@cloudscape-design/components/toggle'
import { useEffect, useState } from 'react'
import { address, go, usePlace } from '../../../frame/router'
import { download, messagesAsCSV } from '../../../parts/download'
import { Empty } from '../../../parts/empty'
import { bytes, count, plural } from '../../../parts/format'
import { type Message, MessageDetails, stateWords } from '../../../parts/message'
import type { State } from '../../../parts/peek'
import { Problem } from '../../../parts/problem'
import { Ago, Num, Time } from '../../../parts/values'
import type { TabProps } from '../tabs'
import { useLook } from './look'

const stateTypes = { Visible: 'success', InFlight: 'in-progress', Delayed: 'pending' } as const

/** Browse shows the messages of a queue as they lie there. Looking changes nothing. */
export default function Browse({ queue, fifo }: TabProps) {
  const { query } = usePlace()
  const filter = query.get('filter') ?? ''
  const state = (query.get('state') ?? '') as State | ''
  const follow = query.get('follow') === '1'
  const [typed, setTyped] = useState(filter)
  const [shown, setShown] = useState<Message>()
  const look = useLook(queue, filter, state, follow)
  useEffect(() => setTyped(filter), [filter])

  function show(changes: { filter?: string; state?: string; follow?: string }) {
    go(address(['queues', queue, 'browse'], { filter, state, follow: follow ? '1' : '', ...changes }), {
      replace: true,
    })
  }

  return (
    <SpaceBetween size="m">
      <form
        onSubmit={(e) => {
          e.preventDefault()
          typed === filter ? look.again() : show({ filter: typed })
        }}
      >
        <div className="search">
          <FormField
            label="Search messages"
            stretch
            constraintText={
              <>
                Words, <code>body.order.id:17</code>, <code>attr.tenant:acme</code>, <code>age&gt;2h</code>,{' '}
                <code>count&gt;=3</code>, <code>size&gt;10k</code>. <Terms />
              </>
            }
          >
            <Input
              value={typed}
              type="search"
              spellcheck={false}
              placeholder="All messages"
              onChange={({ detail }) => setTyped(detail.value)}
            />
          </FormField>
          <Button formAction="submit" variant="primary" iconName="search" loading={look.busy && !follow}>
            Search
          </Button>
        </div>
      </form>
      <div className="row apart">
        <SegmentedControl
          label="Which messages"
          selectedId={state || 'all'}
          options={[
            { id: 'all', text: 'All' },
            { id: 'Visible', text: 'Available' },
            { id: 'InFlight', text: 'In flight' },
            { id: 'Delayed', text: 'Delayed' },
          ]}
          onChange={({ detail }) => show({ state: detail.selectedId === 'all' ? '' : detail.selectedId })}
        />
        <Toggle checked={follow} onChange={({ detail }) => show({ follow: detail.checked ? '1' : '' })}>
          Follow new messages
        </Toggle>
      </div>
      {look.error !== undefined && <Problem error={look.error} what="Not searched" retry={look.again} />}
      {look.withoutBodies && (
        <Alert type="info">
          Bodies are not shown: you have permission for sluice:PeekMessages, and not for sluice:PeekMessageBody.
        </Alert>
      )}
      <Table
        variant="container"
        resizableColumns
        enableKeyboardNavigation
        items={look.messages}
        trackBy="MessageId"
        loading={look.busy && look.messages.length === 0 && !follow}
        loadingText="Looking"
        ariaLabels={{ tableLabel: 'Messages' }}
        header={
          <Header
            variant="h2"
            counter={`(${count(look.messages.length)}${look.more ? '+' : ''})`}
            description="Looking changes nothing: no receive count grows, and no consumer waits."
            actions={
              <SpaceBetween direction="horizontal" size="xs">
                <Button iconName="refresh" ariaLabel="Look again" disabled={follow} onClick={look.again} />
                <ButtonDropdown
                  disabled={look.messages.length === 0}
                  items={[
                    { id: 'json', text: 'JSON', secondaryText: 'What is shown here' },
                    { id: 'csv', text: 'CSV', secondaryText: 'What is shown here' },
                  ]}
                  onItemClick={({ detail }) =>
                    detail.id === 'csv'
                      ? download(`${queue}.csv`, 'text/csv', messagesAsCSV(look.messages))
                      : download(`${queue}.json`, 'application/json', JSON.stringify(look.messages, null, 2))
                  }
                >
                  Download
                </ButtonDropdown>
              </SpaceBetween>
            }
          >
            Messages
          </Header>
        }
        empty={
          follow ? (
            <Empty title="Waiting for new messages">What is sent from now on appears here, the newest first.</Empty>
          ) : filter || state ? (
            <Empty title="No message is like that">
              {plural(look.scanned, 'message')} looked at.{' '}
              <Link onFollow={() => show({ filter: '', state: '' })}>Show all</Link>
            </Empty>
          ) : (
            <Empty title="The queue has no messages">
              <Link href={address(['queues', queue, 'messages'])}>Send one</Link> to see what it looks like here.
            </Empty>
          )
        }
        footer={
          <Box textAlign="center" color="text-body-secondary">
            {follow ? (
              <StatusIndicator type="in-progress">Following</StatusIndicator>
            ) : (
              <SpaceBetween size="xs">
                <span>
                  {count(look.scanned)} of {plural(look.total, 'message')} looked at
                </span>
                {look.more && (
                  <Button loading={look.busy} onClick={look.further}>
                    Look further
                  </Button>
                )}
              </SpaceBetween>
            )}
          </Box>
        }
        columnDefinitions={[
          {
            id: 'id',
            header: 'ID',
            isRowHeader: true,
            width: 130,
            cell: (m) => (
              <Link
                href="#"
                ariaLabel={`Message ${m.MessageId}`}
                onFollow={(e) => {
                  e.preventDefault()
                  setShown(m)
                }}
              >
                {m.MessageId.slice(0, 8)}…
              </Link>
            ),
          },
          {
            id: 'body',
            header: 'Body',
            width: 380,
            cell: (m) => <span className="code preview">{m.Body?.slice(0, 300)}</span>,
          },
          {
            id: 'state',
            header: 'State',
            width: 130,
            cell: (m) => m.State && <StatusIndicator type={stateTypes[m.State]}>{stateWords[m.State]}</StatusIndicator>,
          },
          { id: 'sent', header: 'Sent', width: 185, cell: (m) => <Time at={m.SentTimestamp} /> },
          { id: 'until', header: 'Available', width: 130, cell: (m) => <Ago at={m.InvisibleUntil} /> },
          { id: 'count', header: 'Receive count', width: 125, cell: (m) => <Num value={m.ReceiveCount} /> },
          { id: 'size', header: 'Size', width: 110, cell: (m) => <span className="number">{bytes(m.Size ?? 0)}</span> },
          ...(fifo
            ? [{ id: 'group', header: 'Message Group ID', width: 160, cell: (m: Message) => m.MessageGroupId }]
            : []),
          {
            id: 'attributes',
            header: 'Attributes',
            width: 200,
            cell: (m) => (
              <span className="code preview">
                {Object.entries(m.MessageAttributes ?? {})
                  .map(([name, a]) => `${name}=${a.StringValue ?? `(${a.DataType})`}`)
                  .join(' ')}
              </span>
            ),
          },
        ]}
      />
      {shown && <MessageDetails message={shown} close={() => setShown(undefined)} />}
    </SpaceBetween>
  )
}

const terms: [string, string][] = [
  ['word, "two words"', 'the text is in the body, an attribute or the group; or it is the message ID'],
  ['attr.tenant:acme', 'the message attribute has that value'],
  ['body.order.lines.0.sku:a-1', 'the JSON body has that value there; * stands for any step'],
  ['attr.weight>1.5', 'the value is a number and compares so'],
  ['sent>2026-11-01, age>2h', 'when it was sent; without a zone in UTC'],
  ['count>=3, size>10k', 'how often it was received, how large it is'],
  ['id: group: dedup: sender: source:', 'fields of the message, in full or with * at an end'],
  ['-word', 'a minus turns a term round'],
]

function Terms() {
  return (
    <Popover
      header="A message is found if all terms hold"
      size="large"
      content={
        <dl className="terms">
          {terms.map(([term, holds]) => (
            <div key={term}>
              <dt>
                <code>{term}</code>
              </dt>
              <dd>{holds}</dd>
            </div>
          ))}
        </dl>
      }
    >
      All terms
    </Popover>
  )
}

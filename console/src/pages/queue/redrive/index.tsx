import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import RadioGroup from '@cloudscape-design/components/radio-group'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Table from '@cloudscape-design/components/table'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import { redriving, refused, useRefusals } from '../../../api/access'
import { keys } from '../../../api/keys'
import { arnOf } from '../../../api/movetask'
import { useSources } from '../../../api/sources'
import { sluice } from '../../../aws/sluice'
import { notify } from '../../../frame/notices'
import { address, go, usePlace } from '../../../frame/router'
import { Confirm } from '../../../parts/confirm'
import { Empty } from '../../../parts/empty'
import { count, plural } from '../../../parts/format'
import { type Message, MessageDetails } from '../../../parts/message'
import { messageColumns } from '../../../parts/messagecolumns'
import { Problem } from '../../../parts/problem'
import { QueueField } from '../../../parts/queuefield'
import { SearchForm } from '../../../parts/searchform'
import { useLook } from '../browse/look'
import type { TabProps } from '../tabs'
import { DryRun, type Moves, movesNothing } from './dryrun'
import { EditMessage } from './edit'
import { groupings, isGrouped } from './grouping'
import { GroupTable } from './groups'
import { Tasks } from './tasks'

/** Redrive is the workbench for dead letters: find them, group them by cause, mend them, send them again. */
export default function Redrive({ queue }: TabProps) {
  const { query } = usePlace()
  const client = useQueryClient()
  const filter = query.get('filter') ?? ''
  const by = query.get('by') ?? 'none'
  const path = query.get('path') ?? ''
  const look = useLook(queue, filter, '', false)
  const [chosen, setChosen] = useState<Message[]>([])
  const [shown, setShown] = useState<Message>()
  const [editing, setEditing] = useState<Message>()
  const [asking, setAsking] = useState<'all' | 'chosen'>()
  const [plan, setPlan] = useState<Plan>({ where: 'source', to: '', rate: '' })
  const [moves, setMoves] = useState<Moves>()
  const [unsure, setUnsure] = useState(false)
  const found = useCallback((known: Moves | undefined) => {
    setMoves(known)
    setUnsure(false)
  }, [])
  const failed = useCallback(() => setUnsure(true), [])
  const sources = useSources(queue)
  const refusals = useRefusals([queue])
  const only = sources.data?.names.length === 1 && !sources.data.more ? sources.data.names[0] : undefined
  const offer = plan.where === 'source' && only && (
    <Button
      onClick={() => setPlan({ ...plan, where: 'custom', to: only })}
    >{`Choose ${only} as the destination`}</Button>
  )

  function show(changes: Record<string, string>) {
    setChosen([])
    go(address(['queues', queue, 'redrive'], { filter, by, path, ...changes }), { replace: true })
  }

  async function start(input: object) {
    await sluice('RedriveMessages', { QueueUrl: queue, ...planned(plan), ...input })
    notify({ type: 'info', header: 'The redrive has begun', content: 'The tasks below show its progress.' })
    setChosen([])
    await client.invalidateQueries({ queryKey: keys.tasks(queue) })
  }

  const ready = plan.where === 'source' || plan.to.trim() !== ''
  const selected =
    asking === 'chosen' ? { MessageIds: chosen.map((m) => m.MessageId) } : filter ? { Filter: filter } : {}
  return (
    <SpaceBetween size="l">
      <Container
        header={
          <Header
            variant="h2"
            description="Moved messages get a new ID and have never been received. What is in flight or delayed stays."
            actions={
              <SpaceBetween direction="horizontal" size="xs">
                <Button
                  disabled={chosen.length === 0 || !ready}
                  {...refused(refusals, ...redriving)}
                  onClick={() => setAsking('chosen')}
                >
                  Redrive {chosen.length > 0 ? plural(chosen.length, 'message') : 'chosen messages'}
                </Button>
                <Button
                  variant="primary"
                  disabled={!ready}
                  {...refused(refusals, ...redriving)}
                  onClick={() => setAsking('all')}
                >
                  {filter ? 'Redrive all matches' : 'Redrive messages'}
                </Button>
              </SpaceBetween>
            }
          >
            Dead-letter queue redrive
          </Header>
        }
      >
        <ColumnLayout columns={2}>
          <FormField label="Message destination">
            <SpaceBetween size="xs">
              <RadioGroup
                value={plan.where}
                ariaLabel="Message destination"
                onChange={({ detail }) => setPlan({ ...plan, where: detail.value as Plan['where'] })}
                items={[
                  { value: 'source', label: 'Redrive to source queue(s)' },
                  { value: 'custom', label: 'Redrive to custom destination' },
                ]}
              />
              {plan.where === 'custom' && (
                <QueueField
                  value={plan.to}
                  label="Destination"
                  change={(to) => setPlan({ ...plan, to })}
                  only={(q) => q.QueueName !== queue}
                />
              )}
            </SpaceBetween>
          </FormField>
          <FormField label="Velocity" description="Messages a second, from 1 to 500. Empty = maximum.">
            <Input
              value={plan.rate}
              type="number"
              inputMode="numeric"
              placeholder="System optimized"
              onChange={({ detail }) => setPlan({ ...plan, rate: detail.value })}
            />
          </FormField>
        </ColumnLayout>
      </Container>
      <SearchForm
        label="Which messages"
        help="The terms of Browse messages: source:*orders, attr.error:timeout*, body.order.id:17, age>2h."
        button="Find"
        filter={filter}
        busy={look.busy}
        search={(typed) => (typed === filter ? look.again() : show({ filter: typed }))}
      />
      <div className="row">
        <Select
          ariaLabel="Group by"
          selectedOption={groupings.find((g) => g.value === by) ?? null}
          options={groupings}
          onChange={({ detail }) => show({ by: detail.selectedOption.value ?? 'none' })}
        />
        {(by === 'attribute' || by === 'body') && (
          <Input
            value={path}
            ariaLabel="Which one"
            placeholder={by === 'attribute' ? 'name of the attribute' : 'path in the JSON, as error.code'}
            onChange={({ detail }) => show({ path: detail.value })}
          />
        )}
      </div>
      {look.error !== undefined && <Problem error={look.error} what="Not searched" retry={look.again} />}
      {isGrouped(by, path) && (
        <GroupTable
          queue={queue}
          filter={filter}
          by={by}
          path={path}
          choose={(term) => show({ filter: `${filter} ${term}`.trim() })}
        />
      )}
      <Table
        variant="container"
        resizableColumns
        items={look.messages}
        trackBy="MessageId"
        selectionType="multi"
        selectedItems={chosen}
        onSelectionChange={({ detail }) => setChosen(detail.selectedItems)}
        loading={look.busy && look.messages.length === 0}
        loadingText="Looking"
        ariaLabels={{
          tableLabel: 'Dead letters',
          selectionGroupLabel: 'Choose messages',
          allItemsSelectionLabel: () => 'Choose all messages',
          itemSelectionLabel: (_, m) => `Choose message ${m.MessageId}`,
        }}
        header={
          <Header
            variant="h2"
            counter={
              chosen.length > 0
                ? `(${chosen.length}/${look.messages.length})`
                : `(${count(look.messages.length)}${look.more ? '+' : ''})`
            }
            actions={
              <Button
                disabled={chosen.length !== 1}
                {...refused(refusals, ...redriving, 'sluice:EditMessage')}
                onClick={() => setEditing(chosen[0])}
              >
                Edit and resend
              </Button>
            }
          >
            Messages
          </Header>
        }
        empty={
          look.error === undefined ? (
            <Empty title={filter ? 'No matches' : 'There are no messages here'}>
              Messages come here from queues whose redrive policy names this one, when they were received too often
              without being deleted.
            </Empty>
          ) : (
            <Empty title="Nothing was looked at" />
          )
        }
        footer={
          look.more && (
            <Box textAlign="center">
              <Button loading={look.busy} onClick={look.further}>
                Scan more
              </Button>
            </Box>
          )
        }
        columnDefinitions={messageColumns(setShown, ['body', 'source', 'sent', 'count'])}
      />
      <Tasks queue={queue} ended={look.again} />
      {shown && <MessageDetails message={shown} close={() => setShown(undefined)} />}
      {editing && (
        <EditMessage
          message={editing}
          close={() => setEditing(undefined)}
          plan={{ QueueUrl: queue, ...destined(plan), MessageIds: [editing.MessageId] }}
          offer={offer}
          resend={(edit) => start({ MessageIds: [editing.MessageId], Edit: edit })}
        />
      )}
      {asking && (
        <Confirm
          title={
            asking === 'chosen'
              ? `Redrive ${plural(chosen.length, 'message')}?`
              : filter
                ? 'Redrive all matches?'
                : 'Redrive all messages?'
          }
          yes="Redrive"
          blocked={!unsure && (moves === undefined || movesNothing(moves))}
          close={() => setAsking(undefined)}
          act={() => start(selected)}
        >
          <Box>
            They go to {plan.where === 'source' ? 'the queues that they came from' : plan.to}
            {asking === 'all' && filter && (
              <>: every message of this queue that {filter} finds, also those not shown here</>
            )}
            . It can be cancelled; what was moved until then stays moved.
          </Box>
          <DryRun
            plan={{ QueueUrl: queue, ...destined(plan), ...selected }}
            found={found}
            failed={failed}
            offer={offer}
          />
        </Confirm>
      )}
    </SpaceBetween>
  )
}

interface Plan {
  where: 'source' | 'custom'
  to: string
  rate: string
}

function planned({ where, to, rate }: Plan) {
  const n = Number(rate)
  if (rate.trim() !== '' && (!Number.isInteger(n) || n < 1 || n > 500)) {
    throw new Error('The velocity must be between 1 and 500 messages a second.')
  }
  return { ...destined({ where, to }), ...(rate.trim() !== '' && { MaxNumberOfMessagesPerSecond: n }) }
}

/** destined is where the messages go, as RedriveMessages takes it. */
function destined({ where, to }: Pick<Plan, 'where' | 'to'>): { DestinationArn?: string } {
  if (where === 'source') {
    return {}
  }
  return { DestinationArn: arnOf(to) }
}

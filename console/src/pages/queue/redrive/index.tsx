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
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import { redriving, refused, useRefusals } from '../../../api/access'
import type { Group } from '../../../api/census'
import { keys } from '../../../api/keys'
import type { Message } from '../../../api/message'
import { arnOf } from '../../../api/movetask'
import { type Moves, movesNothing, startRedrive } from '../../../api/redrive'
import { useSources } from '../../../api/sources'
import { counterOf } from '../../../data/counter'
import { plural } from '../../../data/format'
import { notify } from '../../../frame/notices'
import { address, go, usePlace } from '../../../frame/router'
import { Bar } from '../../../parts/bar'
import { Confirm } from '../../../parts/confirm'
import { Empty } from '../../../parts/empty'
import { MessageDetails } from '../../../parts/message'
import { useMessageColumns } from '../../../parts/messagecolumns'
import { Problem } from '../../../parts/problem'
import { QueueField } from '../../../parts/queuefield'
import { Rows } from '../../../parts/rows'
import { SavedSearches } from '../../../parts/savedsearches'
import { SearchForm } from '../../../parts/searchform'
import { type Look, useLook } from '../browse/look'
import type { TabProps } from '../tab'
import { DeleteGroup } from './deletegroup'
import { DryRun } from './dryrun'
import { EditMessage } from './edit'
import { type GroupAct, GroupTable } from './groups'
import { isGrouped, kindOf, kinds, suggestKey } from './keys'
import { Tasks } from './tasks'

/** Redrive is the workbench for dead letters: find them, group them by cause, mend them, send them again. */
export default function Redrive({ queue }: TabProps) {
  const { query } = usePlace()
  const client = useQueryClient()
  const filter = query.get('filter') ?? ''
  const look = useLook(queue, filter, '', false)
  const by = query.get('by') ?? suggestedFor(look)
  const [chosen, setChosen] = useState<Message[]>([])
  const [shown, setShown] = useState<Message>()
  const columns = useMessageColumns({
    open: setShown,
    names: ['source', 'age', 'count'],
    wide: ['source', 'sent', 'count'],
  })
  const [editing, setEditing] = useState<Message>()
  const [asking, setAsking] = useState<Asked>()
  const [deleting, setDeleting] = useState<Group>()
  const [changes, setChanges] = useState(0)
  const [plan, setPlan] = useState<Plan>({ where: 'source', to: '', rate: '' })
  const [moves, setMoves] = useState<Moves>()
  const [unsure, setUnsure] = useState(false)
  const found = useCallback((known: Moves | undefined) => {
    setMoves(known)
    setUnsure(false)
  }, [])
  const failed = useCallback(() => setUnsure(true), [])
  const kind = kindOf(by)
  const named = kind?.value.endsWith('.') && kind.value
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
    go(address(['queues', queue, 'redrive'], { filter, by: query.get('by') ?? '', ...changes }), { replace: true })
  }

  async function start(input: object) {
    await startRedrive({ QueueUrl: queue, ...planned(plan), ...input })
    notify({ type: 'info', header: 'The redrive has begun', content: 'The tasks below show its progress.' })
    setChosen([])
    await client.invalidateQueries({ queryKey: keys.tasks(queue) })
  }

  function actOn(act: GroupAct, group: Group) {
    switch (act) {
      case 'choose':
        return show({ filter: within(group) })
      case 'redrive':
        return setAsking({ filter: within(group) })
      case 'delete':
        return setDeleting(group)
    }
  }

  /** within is the filter for the messages of a group. */
  const within = (group: Group) => `${filter} ${group.Filter}`.trim()

  const changed = useCallback(() => {
    look.again()
    setChanges((n) => n + 1)
  }, [look.again])

  const ready = plan.where === 'source' || plan.to.trim() !== ''
  const selected =
    asking === 'chosen'
      ? { MessageIds: chosen.map((m) => m.MessageId) }
      : asking?.filter
        ? { Filter: asking.filter }
        : {}
  return (
    <SpaceBetween size="l">
      <Container
        header={
          <Header
            variant="h2"
            description="Moved messages get a new ID, and their receive count begins at 0. Messages in flight or delayed stay."
            actions={
              <Bar>
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
                  onClick={() => setAsking({ filter })}
                >
                  {filter ? 'Redrive all matches' : 'Redrive messages'}
                </Button>
              </Bar>
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
        <SavedSearches filter={filter} search={(saved) => show({ filter: saved })} />
        <Select
          ariaLabel="Group by"
          selectedOption={kindOf(by) ?? null}
          options={kinds}
          onChange={({ detail }) => show({ by: detail.selectedOption.value ?? 'none' })}
        />
        {named && (
          <Input
            value={by.slice(named.length)}
            ariaLabel="Attribute or path"
            placeholder={named === 'attr.' ? 'name of the attribute' : 'path in the JSON, such as error.code'}
            onChange={({ detail }) => show({ by: named + detail.value })}
          />
        )}
      </div>
      {look.error !== undefined && <Problem error={look.error} what="Not searched" retry={look.again} />}
      {isGrouped(by) && (
        <GroupTable queue={queue} filter={filter} by={by} refusals={refusals} act={actOn} again={changes} />
      )}
      <Tasks queue={queue} ended={changed} />
      <Rows
        variant="container"
        resizableColumns
        items={look.messages}
        trackBy="MessageId"
        selectionType="multi"
        selectedItems={chosen}
        onSelectionChange={({ detail }) => setChosen(detail.selectedItems)}
        loading={look.busy && look.messages.length === 0}
        loadingText="Loading messages"
        ariaLabels={{
          tableLabel: 'Dead letters',
          selectionGroupLabel: 'Choose messages',
          allItemsSelectionLabel: () => 'Choose all messages',
          itemSelectionLabel: (_, m) => `Choose message ${m.MessageId}`,
        }}
        header={
          <Header
            variant="h2"
            counter={counterOf({
              ...look,
              shown: look.messages.length,
              chosen: chosen.length,
              filtered: filter !== '',
              waits: look.busy,
            })}
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
              Queues whose redrive policy names this queue move messages here that were received too often without being
              deleted.
            </Empty>
          ) : (
            <Empty title="Nothing searched" />
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
        columnDefinitions={columns}
      />
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
      {deleting && (
        <DeleteGroup
          queue={queue}
          filter={within(deleting)}
          messages={deleting.Messages}
          close={() => setDeleting(undefined)}
          done={changed}
        />
      )}
      {asking && (
        <Confirm
          title={
            asking === 'chosen'
              ? `Redrive ${plural(chosen.length, 'message')}?`
              : asking.filter
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
            {asking !== 'chosen' && asking.filter && (
              <>: every message of this queue that {asking.filter} finds, also those not shown here</>
            )}
            . You can cancel the redrive. Messages that it has moved by then stay moved.
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

/** Asked is what a person is asked about: to redrive what was chosen, or what a filter finds. */
type Asked = 'chosen' | { filter: string }

/** mostUnasked is how many messages are grouped before a person asks for it. */
const mostUnasked = 20_000

/** suggestedFor is by what messages are grouped until a person chooses. */
function suggestedFor({ messages, total }: Look): string {
  return (total <= mostUnasked && suggestKey(messages)) || 'none'
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

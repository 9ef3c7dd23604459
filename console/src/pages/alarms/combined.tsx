import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import type { AnyAlarm } from '../../api/alarm'
import { useRelatives } from '../../api/alarms'
import { address } from '../../frame/router'
import { Empty } from '../../parts/empty'
import { RangeField } from '../../parts/graphs'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { Rows } from '../../parts/rows'
import { Ago, Words } from '../../parts/values'
import { notified } from './notified'
import { State } from './state'

function nameOfAlarm(ref: string): string {
  return ref.startsWith('arn:') ? ref.split(':').slice(6).join(':') : ref
}

function link(name: string) {
  return (
    <Link href={address(['alarms', name])}>
      <Words text={name} />
    </Link>
  )
}

/** Combined shows a composite alarm: its rule, what suppresses its actions, and the alarms that the rule names. */
export function Combined({ alarm, hours, choose }: { alarm: AnyAlarm; hours: number; choose: (n: number) => void }) {
  const suppressor = nameOfAlarm(alarm.ActionsSuppressor ?? '')
  return (
    <SpaceBetween size="l">
      <Container
        header={
          <Header variant="h2" description={alarm.StateReason}>
            <State state={alarm.StateValue} />
          </Header>
        }
      >
        <SpaceBetween size="m">
          <RangeField hours={hours} choose={choose} />
          <pre className="code">{alarm.AlarmRule}</pre>
        </SpaceBetween>
      </Container>
      <Children name={alarm.AlarmName ?? ''} />
      <Container header={<Header variant="h2">Definition</Header>}>
        <Pairs
          columns={3}
          items={[
            { label: 'Suppressor', value: suppressor ? link(suppressor) : 'None' },
            {
              label: 'Wait and extension periods',
              value: suppressor
                ? `${alarm.ActionsSuppressorWaitPeriod} s, ${alarm.ActionsSuppressorExtensionPeriod} s`
                : '–',
            },
            { label: 'Suppression', value: alarm.ActionsSuppressedReason ?? 'Actions are not suppressed' },
            ...notified(alarm),
          ]}
        />
      </Container>
    </SpaceBetween>
  )
}

function Children({ name }: { name: string }) {
  const { data, error, isPending, refetch } = useRelatives(name, 'children')
  return (
    <Rows
      header={<Header variant="h2">Alarms in the rule</Header>}
      loading={isPending}
      loadingText="Loading alarms"
      items={data ?? []}
      trackBy="AlarmName"
      columnDefinitions={[
        { id: 'name', header: 'Name', cell: (a) => link(a.AlarmName ?? ''), isRowHeader: true },
        { id: 'state', header: 'State', cell: (a) => <State state={a.StateValue} /> },
        { id: 'updated', header: 'Updated', cell: (a) => <Ago at={a.StateUpdatedTimestamp?.getTime()} /> },
      ]}
      empty={
        error ? (
          <Problem error={error} what="The alarms cannot be listed" retry={() => void refetch()} />
        ) : (
          <Empty title="The rule names no alarms" />
        )
      }
    />
  )
}

/** Parents names the composite alarms whose rules name an alarm, if there are any. */
export function Parents({ name }: { name: string }) {
  const { data } = useRelatives(name, 'parents')
  if (!data || data.length === 0) {
    return null
  }
  return (
    <Container header={<Header variant="h2">Composite alarms with this alarm</Header>}>
      {data.map((a) => (
        <div key={a.AlarmName}>{link(a.AlarmName ?? '')}</div>
      ))}
    </Container>
  )
}

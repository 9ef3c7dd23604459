import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import type { ReactNode } from 'react'
import { conditionOf, queuesOf } from '../../../api/alarm'
import { useAlarms } from '../../../api/alarms'
import { nameOf } from '../../../api/queues'
import { idOf, isPending, type Subscription, useFeeds } from '../../../api/subscriptions'
import { count } from '../../../data/format'
import { address } from '../../../frame/router'
import { Words } from '../../../parts/values'
import { State } from '../../alarms/state'

/** least is how often the alarms are asked for again at most, in milliseconds. */
const least = 30_000

/** shown bounds how many alarms and subscriptions are listed here; their own pages have all. */
const shown = 5

/** Neighbours are the alarms on a queue and the subscriptions that feed it, as far as the user may see them. */
export function Neighbours({ queue, arn }: { queue: string; arn: string }) {
  const all = useAlarms(undefined, least).data ?? []
  const alarms = all.filter((a) => queuesOf(a).includes(queue))
  // Alarms that fire come first.
  alarms.sort((a, b) => Number(b.StateValue === 'ALARM') - Number(a.StateValue === 'ALARM'))
  const feeds = useFeeds(arn).data
  const parts = [
    alarms.length > 0 && (
      <Part key="alarms" title="Alarms" n={alarms.length} all={address(['alarms'], { queue })}>
        {alarms.slice(0, shown).map((a) => (
          <div key={a.AlarmName} className="row">
            <State state={a.StateValue} />
            <Link href={address(['alarms', a.AlarmName ?? ''])}>
              <Words text={a.AlarmName} />
            </Link>
            <span className="quiet break">{conditionOf(a)}</span>
          </div>
        ))}
      </Part>
    ),
    feeds && feeds.found.length > 0 && (
      <Part key="feeds" title="Fed by topics" n={feeds.found.length} more={feeds.more} all={address(['subscriptions'])}>
        {feeds.found.slice(0, shown).map((s) => (
          <Feed key={s.TopicArn} subscription={s} />
        ))}
      </Part>
    ),
  ].filter((part) => part !== false && part !== undefined)
  return parts.length === 0 ? null : <ColumnLayout columns={parts.length}>{parts}</ColumnLayout>
}

interface PartProps {
  title: string
  n: number
  /** more says that there may be others, and all is the address of the page that has all. */
  more?: boolean
  all: string
  children: ReactNode
}

function Part({ title, n, more = false, all, children }: PartProps) {
  return (
    <Container
      header={
        <Header
          variant="h2"
          counter={`(${count(n)}${more ? '+' : ''})`}
          actions={n > shown && <Link href={all}>All</Link>}
        >
          {title}
        </Header>
      }
    >
      {children}
    </Container>
  )
}

function Feed({ subscription: s }: { subscription: Subscription }) {
  const topic = nameOf(s.TopicArn ?? '')
  return (
    <div className="row">
      <Link href={address(['topics', topic])}>
        <Words text={topic} />
      </Link>
      {isPending(s) ? (
        <span className="quiet">not confirmed yet</span>
      ) : (
        <Link
          href={address(['subscriptions', topic, idOf(s.SubscriptionArn ?? '')])}
          ariaLabel={`Subscription of ${topic}`}
        >
          Subscription
        </Link>
      )}
    </div>
  )
}

import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useEffect, useState } from 'react'
import { type Refusals, redriving, refused } from '../../../api/access'
import { countGroups, type Group, type Groups } from '../../../api/census'
import { nameOf } from '../../../api/queues'
import { count, plural } from '../../../data/format'
import { Problem } from '../../../parts/problem'
import { Rows } from '../../../parts/rows'
import { Num, Time } from '../../../parts/values'

interface GroupTableProps {
  queue: string
  filter: string
  by: string
  refusals: Refusals
  /** act does something with the messages of a group. */
  act: (act: GroupAct, group: Group) => void
  /** again changes when the queue has changed: it counts anew. */
  again: number
}

/** GroupAct is what can be done with the messages of a group. */
export type GroupAct = 'choose' | 'redrive' | 'delete'

/** typing is how long it waits before it counts: a path may still be typed. */
const typing = 300

/** GroupTable counts all messages of a queue that a filter finds, by a value of theirs. It says how far it has come. */
export function GroupTable({ queue, filter, by, refusals, act, again }: GroupTableProps) {
  const [counted, setCounted] = useState<Groups>()
  const [error, setError] = useState<unknown>()
  const [stop, setStop] = useState<() => void>()
  const [times, setTimes] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: times and again count anew
  useEffect(() => {
    const controller = new AbortController()
    setCounted(undefined)
    setError(undefined)
    const halt = () => {
      controller.abort()
      setStop(undefined)
    }
    setStop(() => halt)
    const timer = setTimeout(() => {
      countGroups({ queue, filter, by }, controller.signal, setCounted)
        .catch((e: unknown) => !controller.signal.aborted && setError(e))
        .finally(() => !controller.signal.aborted && setStop(undefined))
    }, typing)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [queue, filter, by, times, again])
  const groups = counted?.groups ?? []
  return (
    <Rows
      variant="container"
      items={groups}
      trackBy="key"
      loading={!counted && stop !== undefined}
      loadingText="Counting"
      empty={error === undefined ? 'No matches' : <Problem error={error} what="Not counted" />}
      ariaLabels={{ tableLabel: 'Groups of messages' }}
      header={
        <Header
          variant="h2"
          counter={counted && `(${count(groups.length)})`}
          description={counted && progress(counted)}
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              {stop ? (
                <Button onClick={stop}>Stop counting</Button>
              ) : (
                <Button onClick={() => setTimes(times + 1)}>Count again</Button>
              )}
            </SpaceBetween>
          }
        >
          Groups
        </Header>
      }
      columnDefinitions={[
        { id: 'key', header: 'Value', isRowHeader: true, cell: (g) => <span className="break">{labelOf(g, by)}</span> },
        { id: 'n', header: 'Messages', cell: (g) => <Num value={g.Messages} />, width: 120 },
        { id: 'newest', header: 'Newest', cell: (g) => <Time at={g.NewestTimestamp} />, width: 200 },
        {
          id: 'act',
          header: 'Actions',
          width: 260,
          cell: (g) =>
            g.Filter && (
              <SpaceBetween direction="horizontal" size="s">
                <Button variant="inline-link" ariaLabel={`Show ${labelOf(g, by)}`} onClick={() => act('choose', g)}>
                  Show
                </Button>
                <Button
                  variant="inline-link"
                  ariaLabel={`Redrive ${labelOf(g, by)}`}
                  {...refused(refusals, ...redriving)}
                  onClick={() => act('redrive', g)}
                >
                  Redrive
                </Button>
                <Button
                  variant="inline-link"
                  ariaLabel={`Delete ${labelOf(g, by)}`}
                  {...refused(refusals, 'sluice:DeleteMessages', 'sqs:DeleteMessage')}
                  onClick={() => act('delete', g)}
                >
                  Delete
                </Button>
              </SpaceBetween>
            ),
        },
      ]}
    />
  )
}

/** progress says of how many messages the groups are. */
function progress({ others, found, scanned, total, ended }: Groups): string {
  const rest =
    others > 0 ? ` ${plural(others, 'message')} with further values ${others === 1 ? 'is' : 'are'} not shown.` : ''
  return ended
    ? `Of all ${plural(found, 'message')} that match.${rest}`
    : `Of ${plural(found, 'match', 'matches')} so far: ${count(scanned)} of ${plural(total, 'message')} scanned.`
}

/** labelOf returns the label of a group. */
function labelOf({ Value, Cut, Unreadable }: Group, by: string): string {
  if (Unreadable) {
    return 'cannot be decrypted'
  }
  return Value === undefined ? 'without it' : by === 'source' ? nameOf(Value) : Cut ? `${Value}…` : Value
}

import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Table from '@cloudscape-design/components/table'
import { useEffect, useState } from 'react'
import { count, plural } from '../../../parts/format'
import { Problem } from '../../../parts/problem'
import { Num, Time } from '../../../parts/values'
import { countGroups, type Groups } from './grouping'

interface GroupTableProps {
  queue: string
  filter: string
  by: string
  path: string
  /** choose adds a term to the filter. */
  choose: (term: string) => void
}

/** typing is how long it waits before it counts: a path may still be typed. */
const typing = 300

/** GroupTable counts all messages of a queue that a filter finds, by a value of theirs. It says how far it has come. */
export function GroupTable({ queue, filter, by, path, choose }: GroupTableProps) {
  const [counted, setCounted] = useState<Groups>()
  const [error, setError] = useState<unknown>()
  const [stop, setStop] = useState<() => void>()
  const [times, setTimes] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: times counts anew
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
      countGroups({ queue, filter, by, path }, controller.signal, setCounted)
        .catch((e: unknown) => !controller.signal.aborted && setError(e))
        .finally(() => !controller.signal.aborted && setStop(undefined))
    }, typing)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [queue, filter, by, path, times])
  const groups = counted?.groups ?? []
  return (
    <Table
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
        { id: 'key', header: 'Value', isRowHeader: true, cell: (g) => <span className="break">{g.label}</span> },
        { id: 'n', header: 'Messages', cell: (g) => <Num value={g.count} />, width: 120 },
        { id: 'newest', header: 'Newest', cell: (g) => <Time at={g.newest} />, width: 210 },
        {
          id: 'choose',
          header: 'Choose',
          width: 150,
          cell: (g) => {
            const term = g.term
            return term ? (
              <Button variant="inline-link" onClick={() => choose(term)}>
                Choose these
              </Button>
            ) : null
          },
        },
      ]}
    />
  )
}

/** progress says of how many messages the groups are. */
function progress({ found, scanned, total, ended }: Groups): string {
  return ended
    ? `Of all ${plural(found, 'message')} that match.`
    : `Of ${plural(found, 'match', 'matches')} so far: ${count(scanned)} of ${plural(total, 'message')} scanned.`
}

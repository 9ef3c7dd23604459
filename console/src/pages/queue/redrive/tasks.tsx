import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ExpandableSection from '@cloudscape-design/components/expandable-section'
import Header from '@cloudscape-design/components/header'
import ProgressBar from '@cloudscape-design/components/progress-bar'
import StatusIndicator, { type StatusIndicatorProps } from '@cloudscape-design/components/status-indicator'
import { useEffect, useRef } from 'react'
import { keys } from '../../../api/keys'
import { type MoveTask, outcomes } from '../../../api/movetask'
import { nameOf } from '../../../api/queues'
import { cancelRedrive, useRedriveTasks } from '../../../api/redrive'
import { useAction } from '../../../api/useaction'
import { count } from '../../../data/format'
import { Problem } from '../../../parts/problem'
import { Rows } from '../../../parts/rows'
import { Num, Time } from '../../../parts/values'

const statuses = {
  RUNNING: { type: 'in-progress', text: 'Running' },
  CANCELLING: { type: 'in-progress', text: 'Cancelling' },
  COMPLETED: { type: 'success', text: 'Completed' },
  CANCELLED: { type: 'stopped', text: 'Cancelled' },
  FAILED: { type: 'error', text: 'Failed' },
} as const

/** statusOf is how a task is: one that has ended and moved nothing has not done what was wanted. */
function statusOf(t: MoveTask): { type: StatusIndicatorProps.Type; text: string } {
  if (t.Status === 'COMPLETED' && t.Moved === 0) {
    return { type: 'warning', text: 'Nothing moved' }
  }
  return statuses[t.Status] ?? { type: 'info', text: t.Status }
}

/** Tasks lists the redrives of a queue, with their progress and what became of the last messages. It tells when one has ended. */
export function Tasks({ queue, ended }: { queue: string; ended: () => void }) {
  const list = useRedriveTasks(queue)
  const lastEnd = list.data && Math.max(0, ...list.data.Tasks.map((t) => t.EndedTimestamp ?? 0))
  const told = useRef<number>(undefined)
  useEffect(() => {
    if (lastEnd !== undefined && lastEnd !== told.current) {
      const first = told.current === undefined
      told.current = lastEnd
      if (!first) {
        ended()
      }
    }
  }, [lastEnd, ended])
  const tasks = (list.data?.Tasks ?? []).map((t, i) => ({ ...t, key: `${t.StartedTimestamp}-${i}` }))

  const { run } = useAction('Not cancelled')
  const cancel = (handle: string) =>
    run(
      async () => {
        await cancelRedrive(handle)
        return undefined
      },
      { stale: [keys.tasks(queue)] },
    )

  if (list.error && !list.data) {
    return <Problem error={list.error} what="Redrive tasks" retry={() => void list.refetch()} />
  }
  if (tasks.length === 0) {
    return null
  }
  return (
    <Rows
      variant="container"
      wrapLines
      items={tasks}
      trackBy="key"
      ariaLabels={{ tableLabel: 'Dead-letter queue redrive tasks' }}
      header={
        <Header variant="h2" counter={`(${tasks.length})`}>
          Dead-letter queue redrive tasks
        </Header>
      }
      columnDefinitions={[
        {
          id: 'status',
          header: 'Status',
          width: 170,
          cell: (t) => (
            <>
              <StatusIndicator type={statusOf(t).type}>{statusOf(t).text}</StatusIndicator>
              {t.FailureReason && <div className="break">{t.FailureReason}</div>}
            </>
          ),
        },
        {
          id: 'started',
          header: 'Started',
          isRowHeader: true,
          cell: (t) => <Time at={t.StartedTimestamp} />,
          width: 190,
        },
        {
          id: 'which',
          header: 'Which messages',
          cell: (t) => (
            <span className="break">
              {t.MessageIds ? `${count(t.MessageIds)} chosen` : t.Filter ? t.Filter : 'All'}
              {t.Edited && ', edited'}
            </span>
          ),
        },
        { id: 'to', header: 'To', cell: (t) => (t.DestinationArn ? nameOf(t.DestinationArn) : 'Source queues') },
        {
          id: 'moved',
          header: 'Moved',
          width: 220,
          cell: (t) =>
            t.TaskHandle && t.Total > 0 ? (
              <ProgressBar
                value={Math.min(100, (100 * Math.max(t.Scanned, t.Moved)) / t.Total)}
                description={`${count(t.Moved)} moved`}
                ariaLabel="Progress of the redrive"
              />
            ) : (
              <Num value={t.Moved} />
            ),
        },
        { id: 'skipped', header: 'Not moved', cell: (t) => <Num value={t.Skipped} />, width: 110 },
        {
          id: 'results',
          header: 'Results',
          cell: (t) =>
            t.Results && t.Results.length > 0 ? (
              <ExpandableSection headerText={`Last ${t.Results.length}`}>
                {t.Results.map((r) => (
                  <Box key={r.MessageId} fontSize="body-s">
                    <span className="break">
                      {r.MessageId}: {outcomes[r.Outcome] ?? r.Outcome}
                      {r.NewMessageId && ` as ${r.NewMessageId}`}
                    </span>
                  </Box>
                ))}
              </ExpandableSection>
            ) : null,
        },
        {
          id: 'cancel',
          header: 'Cancel',
          width: 130,
          cell: (t) => {
            const handle = t.TaskHandle
            return handle && t.Status === 'RUNNING' ? (
              <Button variant="inline-link" onClick={() => void cancel(handle)}>
                Cancel redrive
              </Button>
            ) : null
          },
        },
      ]}
    />
  )
}

import { useCallback, useMemo, useState } from 'react'
import type { ListedQueue } from '../../api/queuestate'
import { later } from '../../frame/later'
import type { Action } from './actions'
import { useFind } from './find'
import { useQueues } from './list'
import { sortingIn } from './sorting'
import { QueueTable, useLooks } from './table'

// With the SDK's client, which the list itself does not need.
const Dialog = later(async () => ({ default: (await import('./dialogs')).Dialog }))

/** Queues is the list of the account's queues with what they are doing. */
export default function Queues() {
  const { find, only, sort } = useFind()
  const [{ pageSize }] = useLooks()
  const sorting = useMemo(() => sortingIn(sort), [sort])
  const [names, setNames] = useState<ReadonlySet<string>>(new Set())
  const [action, act] = useState<Action>()
  const list = useQueues({ find, only, sorting, pageSize })
  const { shown } = list

  const selected = useMemo(() => shown.filter((q) => names.has(q.QueueName)), [shown, names])
  const select = useCallback((queues: ListedQueue[]) => setNames(new Set(queues.map((q) => q.QueueName))), [])

  return (
    <>
      <QueueTable {...list} selected={selected} select={select} act={act} />
      {action && <Dialog action={action} queues={selected} close={() => act(undefined)} />}
    </>
  )
}

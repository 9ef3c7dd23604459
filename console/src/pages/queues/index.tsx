import { useEffect, useState } from 'react'
import { later } from '../../frame/later'
import type { ListedQueue } from '../../parts/queues'
import type { Action } from './dialogs'
import { useFind } from './find'
import { useQueues } from './list'
import { QueueTable, useLooks } from './table'

// With the SDK's client, which the list itself does not need.
const Dialog = later(async () => ({ default: (await import('./dialogs')).Dialog }))

/** Queues is the list of the account's queues with what they are doing. */
export default function Queues() {
  const { find, only } = useFind()
  const [{ pageSize }] = useLooks()
  const [sorting, sort] = useState({ id: 'name', descending: false })
  const [selected, select] = useState<ListedQueue[]>([])
  const [action, act] = useState<Action>()
  const list = useQueues({ find, only, ...sorting, pageSize })
  const { shown } = list

  useEffect(() => {
    const names = new Set(shown.map((q) => q.QueueName))
    select((old) => (old.every((q) => names.has(q.QueueName)) ? old : old.filter((q) => names.has(q.QueueName))))
  }, [shown])

  return (
    <>
      <QueueTable {...list} sorting={sorting} sort={sort} selected={selected} select={select} act={act} />
      {action && <Dialog action={action} queues={selected} close={() => act(undefined)} />}
    </>
  )
}

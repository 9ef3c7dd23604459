import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useState } from 'react'
import { refused, useCreating, useRefusals } from '../../api/access'
import type { ListedQueue } from '../../api/queuestate'
import { useNarrow } from '../../frame/narrow'
import { address, go } from '../../frame/router'
import { Refresh } from '../../parts/refresh'
import { type Action, taken } from './actions'

const menu: { id: Action; text: string }[] = [
  { id: 'purge', text: 'Purge' },
  { id: 'pause', text: 'Pause delivery' },
  { id: 'resume', text: 'Resume delivery' },
  { id: 'tag', text: 'Add tags' },
]

interface ButtonsProps {
  listed: ListedQueue[]
  selected: ListedQueue[]
  act: (action: Action) => void
}

/**
 * Buttons are what can be done with the queues that were chosen. It is drawn alone when it is known what is refused. On a phone
 * there are none for queues until one is chosen: they would take half of the screen.
 */
export function Buttons({ listed, selected, act }: ButtonsProps) {
  const refusals = useRefusals(selected.map((q) => q.QueueName))
  const creating = useCreatingLike(listed)
  const one = selected.length === 1 ? selected[0] : undefined
  const none = selected.length === 0
  const narrow = useNarrow()
  const open = (tab: string) => one && go(address(['queues', one.QueueName, tab]))
  const create = (
    <Button variant="primary" {...creating} onClick={() => go('/create-queue')}>
      Create queue
    </Button>
  )
  if (narrow && none) {
    return (
      <SpaceBetween direction="horizontal" size="xs">
        <Refresh />
        {create}
      </SpaceBetween>
    )
  }
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <Refresh />
      <Button disabled={!one} {...refused(refusals, taken.edit)} onClick={() => open('edit')}>
        Edit
      </Button>
      <Button disabled={none} {...refused(refusals, taken.delete)} onClick={() => act('delete')}>
        Delete
      </Button>
      <Button disabled={!one} onClick={() => open('messages')}>
        Send and receive messages
      </Button>
      <ButtonDropdown
        disabled={none}
        items={menu.map((item) => ({ ...item, ...refused(refusals, taken[item.id]) }))}
        onItemClick={({ detail }) => act(detail.id as Action)}
      >
        Actions
      </ButtonDropdown>
      {create}
    </SpaceBetween>
  )
}

/** useCreatingLike is useCreating with the queues that the list had first: it need not ask again for each page. */
function useCreatingLike(listed: ListedQueue[]) {
  const [first, setFirst] = useState<string[]>([])
  if (first.length === 0 && listed.length > 0) {
    setFirst(listed.map((q) => q.QueueName))
  }
  return useCreating(first)
}

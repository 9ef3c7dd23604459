import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import { type Refusals, redriving, refused } from '../../../api/access'
import type { Message } from '../../../api/message'
import type { Act } from './dialogs'

/** Possible is what decides which acts there are. */
export interface Possible {
  /** refusals are why the user may not do what. */
  refusals: Refusals
  /** dead says that the messages are dead letters of other queues. */
  dead: boolean
}

/** acts are what can be done with messages, for menus. */
export const acts = (messages: Message[], { refusals, dead }: Possible) => [
  ...(dead ? [{ id: 'return', text: 'Return to source queue', ...refused(refusals, ...redriving) }] : []),
  { id: 'move', text: 'Move to a queue', ...refused(refusals, ...redriving) },
  { id: 'copy', text: 'Copy to a queue' },
  {
    id: 'edit',
    text: 'Edit',
    disabled: messages.length !== 1,
    ...refused(refusals, ...redriving, 'sluice:EditMessage'),
  },
  { id: 'delete', text: 'Delete', ...refused(refusals, 'sluice:DeleteMessages', 'sqs:DeleteMessage') },
]

interface StepsProps {
  messages: Message[]
  shown: Message
  show: (message: Message) => void
  act: (act: Act) => void
  possible: Possible
}

/** Steps go from a message to the one before or behind it, and to what can be done with it. */
export function Steps({ messages, shown, show, act, possible }: StepsProps) {
  const at = messages.findIndex((m) => m.MessageId === shown.MessageId)
  const before = at > 0 ? messages[at - 1] : undefined
  const behind = at >= 0 ? messages[at + 1] : undefined
  return (
    <>
      <Button
        iconName="angle-left"
        ariaLabel="Previous message"
        disabled={!before}
        onClick={() => before && show(before)}
      />
      <Button
        iconName="angle-right"
        ariaLabel="Next message"
        disabled={!behind}
        onClick={() => behind && show(behind)}
      />
      <ButtonDropdown items={acts([shown], possible)} onItemClick={({ detail }) => act(detail.id as Act)}>
        Actions
      </ButtonDropdown>
    </>
  )
}

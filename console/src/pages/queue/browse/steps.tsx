import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import type { Message } from '../../../parts/message'
import type { Act } from './dialogs'

/** acts are what can be done with messages, for menus. */
export const acts = (messages: Message[]) => [
  { id: 'move', text: 'Move to a queue' },
  { id: 'copy', text: 'Copy to a queue' },
  { id: 'edit', text: 'Edit', disabled: messages.length !== 1 },
]

interface StepsProps {
  messages: Message[]
  shown: Message
  show: (message: Message) => void
  act: (act: Act) => void
}

/** Steps go from a message to the one before or behind it, and to what can be done with it. */
export function Steps({ messages, shown, show, act }: StepsProps) {
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
      <ButtonDropdown items={acts([shown])} onItemClick={({ detail }) => act(detail.id as Act)}>
        Actions
      </ButtonDropdown>
    </>
  )
}

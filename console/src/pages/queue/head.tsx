import Badge from '@cloudscape-design/components/badge'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { refused, useRefusals } from '../../api/access'
import { useNarrow } from '../../frame/narrow'
import { address, go } from '../../frame/router'
import { type Action, taken } from '../queues/actions'

interface HeadProps {
  queue: string
  fifo: boolean
  paused: boolean
  act: (action: Action) => void
}

/**
 * Head is the name of a queue and, in a row of its own, what can be done with it: long names have the same layout as short ones. On
 * a phone that row has two buttons, and the menu the others.
 */
export function Head({ queue, fifo, paused, act }: HeadProps) {
  const refusals = useRefusals([queue])
  const narrow = useNarrow()
  const delivery = paused ? 'resume' : 'pause'
  const pages: Record<string, string> = {
    edit: address(['queues', queue, 'edit']),
    subscribe: address(['subscribe-queue'], { queues: queue }),
    alarm: address(['create-alarm'], { queue }),
    activity: address(['activity'], { resource: queue }),
  }
  const take = (id: string) => {
    const page = pages[id]
    page ? go(page) : act(id as Action)
  }
  const first = firstActions.map((a) => ({ ...a, ...refused(refusals, taken[a.id]) }))
  return (
    <SpaceBetween size="xs">
      <Header variant="h1">
        <span className="break">{queue}</span> {fifo && <Badge color="blue">FIFO</Badge>}
      </Header>
      <SpaceBetween direction="horizontal" size="xs">
        <Button variant="primary" onClick={() => go(address(['queues', queue, 'messages']))}>
          {narrow ? 'Send and receive' : 'Send and receive messages'}
        </Button>
        {!narrow &&
          first.map(({ id, text, ...properties }) => (
            <Button key={id} {...properties} onClick={() => take(id)}>
              {text}
            </Button>
          ))}
        <ButtonDropdown
          items={[
            ...(narrow ? first : []),
            {
              id: delivery,
              text: paused ? 'Resume delivery' : 'Pause delivery',
              ...refused(refusals, taken[delivery]),
            },
            { id: 'subscribe', text: 'Subscribe to Amazon SNS topic' },
            { id: 'alarm', text: 'Create alarm' },
            { id: 'activity', text: 'Activity' },
          ]}
          onItemClick={({ detail }) => take(detail.id)}
        >
          Actions
        </ButtonDropdown>
      </SpaceBetween>
    </SpaceBetween>
  )
}

const firstActions = [
  { id: 'edit', text: 'Edit' },
  { id: 'delete', text: 'Delete' },
  { id: 'purge', text: 'Purge' },
] as const

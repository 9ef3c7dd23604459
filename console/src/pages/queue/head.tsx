import Badge from '@cloudscape-design/components/badge'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { refused, useRefusals } from '../../api/access'
import { address, go } from '../../frame/router'
import { type Action, taken } from '../queues/actions'

interface HeadProps {
  queue: string
  fifo: boolean
  paused: boolean
  act: (action: Action) => void
}

/** Head is the name of a queue and, in a row of its own, what can be done with it: long names have the same layout as short ones. */
export function Head({ queue, fifo, paused, act }: HeadProps) {
  const refusals = useRefusals([queue])
  const delivery = paused ? 'resume' : 'pause'
  const elsewhere: Record<string, string> = {
    subscribe: address(['subscribe-queue'], { queues: queue }),
    alarm: address(['create-alarm'], { queue }),
    activity: address(['activity'], { resource: queue }),
  }
  return (
    <SpaceBetween size="xs">
      <Header variant="h1">
        <span className="break">{queue}</span> {fifo && <Badge color="blue">FIFO</Badge>}
      </Header>
      <SpaceBetween direction="horizontal" size="xs">
        <Button variant="primary" onClick={() => go(address(['queues', queue, 'messages']))}>
          Send and receive messages
        </Button>
        <Button {...refused(refusals, taken.edit)} onClick={() => go(address(['queues', queue, 'edit']))}>
          Edit
        </Button>
        <Button {...refused(refusals, taken.delete)} onClick={() => act('delete')}>
          Delete
        </Button>
        <Button {...refused(refusals, taken.purge)} onClick={() => act('purge')}>
          Purge
        </Button>
        <ButtonDropdown
          items={[
            {
              id: delivery,
              text: paused ? 'Resume delivery' : 'Pause delivery',
              ...refused(refusals, taken[delivery]),
            },
            { id: 'subscribe', text: 'Subscribe to Amazon SNS topic' },
            { id: 'alarm', text: 'Create alarm' },
            { id: 'activity', text: 'Activity' },
          ]}
          onItemClick={({ detail: { id } }) => {
            const there = elsewhere[id]
            there ? go(there) : act(id as Action)
          }}
        >
          Actions
        </ButtonDropdown>
      </SpaceBetween>
    </SpaceBetween>
  )
}

import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import Input from '@cloudscape-design/components/input'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useState } from 'react'
import { address, go } from '../../frame/router'
import { Empty } from '../../parts/empty'
import { NoQueues } from '../../parts/noqueues'
import { Problem } from '../../parts/problem'
import { useFind } from './find'

interface NoneProps {
  error: unknown
  denied: unknown
  refetch: () => void
}

/** None replaces an empty list of queues, and gives the reason. */
export function None({ error, denied, refetch }: NoneProps) {
  const { filtered, ask } = useFind()
  if (error) {
    return (
      <SpaceBetween size="l">
        <Problem error={error} what="The queues cannot be listed" retry={refetch} />
        {denied !== undefined && (
          <>
            <Box color="text-body-secondary">
              sqs:ListQueues lists their names. sluice:ListQueueStates also shows their states.
            </Box>
            <OpenByName />
          </>
        )}
      </SpaceBetween>
    )
  }
  if (filtered) {
    return (
      <Empty title="No matches" action={<Button onClick={() => ask({ find: '', only: '' })}>Show all queues</Button>} />
    )
  }
  return <NoQueues />
}

/** OpenByName is for a user who may use a queue and not list any. */
function OpenByName() {
  const [name, setName] = useState('')
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        if (name.trim()) {
          go(address(['queues', name.trim()]))
        }
      }}
    >
      <div className="search">
        <FormField label="Name of a queue that you may use" stretch>
          <Input value={name} spellcheck={false} onChange={({ detail }) => setName(detail.value)} />
        </FormField>
        <Button formAction="submit">Open</Button>
      </div>
    </form>
  )
}

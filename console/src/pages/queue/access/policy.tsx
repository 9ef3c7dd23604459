import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '../../../api/keys'
import { queueAttribute, setQueueAttributes } from '../../../api/queueactions'
import { useAction } from '../../../api/useaction'
import { jsonError, pretty } from '../../../data/json'
import { ChangedMeanwhile, useMeanwhile } from '../../../parts/meanwhile'
import { PolicyField } from '../../../parts/policyfield'
import { Problem } from '../../../parts/problem'

async function currentPolicy(QueueUrl: string): Promise<string> {
  return (await queueAttribute(QueueUrl, 'Policy')) ?? ''
}

/** PolicyEditor changes the whole policy. */
export function PolicyEditor({ queue, arn, policy }: { queue: string; arn: string; policy: string }) {
  const client = useQueryClient()
  const [before] = useState(() => pretty(policy))
  const [text, setText] = useState(before)
  const { busy, error, run } = useAction()
  const meanwhile = useMeanwhile(() => currentPolicy(queue))
  const wrong = text.trim() ? jsonError(text) : undefined

  async function save() {
    const put = (Policy: string) => setQueueAttributes(queue, { Policy })
    const again = () => client.invalidateQueries({ queryKey: keys.attributes(queue) })
    await run(async () => {
      if (!(await meanwhile.mayReplace(before))) {
        return undefined
      }
      await put(text.trim())
      await again()
      return {
        header: `Saved the policy of ${queue}`,
        action: { text: 'Undo', do: () => void put(before).then(again) },
      }
    })
  }

  return (
    <Container
      header={
        <Header
          variant="h2"
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button disabled={text === before} onClick={() => setText(before)}>
                Discard changes
              </Button>
              <Button variant="primary" disabled={text === before || Boolean(wrong)} loading={busy} onClick={save}>
                Save
              </Button>
            </SpaceBetween>
          }
        >
          Access policy
        </Header>
      }
    >
      <SpaceBetween size="m">
        <PolicyField value={text} change={setText} arn={arn} error={wrong} />
        <ChangedMeanwhile theirs={meanwhile.theirs} />
        {error !== undefined && <Problem error={error} what="Not saved" />}
      </SpaceBetween>
    </Container>
  )
}

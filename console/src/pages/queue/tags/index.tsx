import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import { useState } from 'react'
import { useTags } from '../../../api/attributes'
import { keys } from '../../../api/keys'
import { tagQueue, untagQueue } from '../../../api/queueactions'
import { useAction } from '../../../api/useaction'
import { isLost } from '../../../aws/failure'
import { record, type Tag } from '../../../data/tags'
import { Problem } from '../../../parts/problem'
import { TagRows } from '../../../parts/tags'
import type { TabProps } from '../tab'

/** Tags edits a queue's tags, of which those that begin with sluice: limit its delivery. */
export default function Tags({ queue }: TabProps) {
  const tags = useTags(queue)
  if (isLost(tags.error, tags.data)) {
    return <Problem error={tags.error} what="The queue's tags" retry={() => void tags.refetch()} />
  }
  return tags.data ? <TagForm key={JSON.stringify(tags.data)} queue={queue} before={tags.data} /> : <Spinner />
}

function TagForm({ queue, before }: { queue: string; before: Record<string, string> }) {
  const [tags, setTags] = useState<Tag[]>(() =>
    Object.entries(before)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => ({ key, value })),
  )
  const { busy, error, run } = useAction()
  const after = record(tags)
  const changed = Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key] !== value))
  const gone = Object.keys(before).filter((key) => !(key in after))
  const same = Object.keys(changed).length === 0 && gone.length === 0

  async function save() {
    await run(
      async () => {
        if (gone.length > 0) {
          await untagQueue(queue, gone)
        }
        if (Object.keys(changed).length > 0) {
          await tagQueue(queue, changed)
        }
        return { header: `Saved the tags of ${queue}` }
      },
      { stale: [keys.queueTags(queue), keys.queueState(queue)] },
    )
  }

  return (
    <Container
      header={
        <Header
          variant="h2"
          description="Tags sluice:delivery=paused, sluice:max-receive-rate=50/s and sluice:max-in-flight=20 limit delivery to consumers."
          actions={
            <Button variant="primary" disabled={same} loading={busy} onClick={save}>
              Save
            </Button>
          }
        >
          Tags
        </Header>
      }
    >
      <SpaceBetween size="m">
        <TagRows tags={tags} change={setTags} empty="The queue has no tags." />
        {error !== undefined && <Problem error={error} what="Not saved" />}
      </SpaceBetween>
    </Container>
  )
}

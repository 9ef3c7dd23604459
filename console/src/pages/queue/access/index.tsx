import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import { useAttributes } from '../../../api/attributes'
import { isLost } from '../../../aws/failure'
import { Problem } from '../../../parts/problem'
import type { TabProps } from '../tab'
import { Explain } from './explain'
import { Permissions } from './permissions'
import { PolicyEditor } from './policy'

/** Access explains permissions on the queue, and lets its policy be changed. */
export default function Access({ queue }: TabProps) {
  const attributes = useAttributes(queue)
  return (
    <SpaceBetween size="l">
      {isLost(attributes.error, attributes.data) && (
        <Problem error={attributes.error} what="The queue's policy" retry={() => void attributes.refetch()} />
      )}
      {attributes.isPending && <Spinner />}
      {attributes.data && (
        <SpaceBetween size="l">
          <Permissions queue={queue} arn={attributes.data.QueueArn ?? ''} policy={attributes.data.Policy ?? ''} />
          <PolicyEditor
            key={attributes.data.Policy ?? ''}
            queue={queue}
            arn={attributes.data.QueueArn ?? ''}
            policy={attributes.data.Policy ?? ''}
          />
        </SpaceBetween>
      )}
      <Explain queue={queue} />
    </SpaceBetween>
  )
}

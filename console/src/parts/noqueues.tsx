import Button from '@cloudscape-design/components/button'
import { useCreating } from '../api/access'
import { go } from '../frame/router'
import { Empty } from './empty'

/** NoQueues stands where queues would be if there were any, and leads to the first one. */
export function NoQueues() {
  const creating = useCreating()
  return (
    <Empty
      title="There are no queues yet"
      action={
        <Button variant="primary" {...creating} onClick={() => go('/create-queue')}>
          Create queue
        </Button>
      }
    >
      A queue keeps messages until a consumer has received and deleted them. Programs that speak Amazon SQS find it
      under its URL.
    </Empty>
  )
}

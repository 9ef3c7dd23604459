import SpaceBetween from '@cloudscape-design/components/space-between'
import type { TabProps } from '../tab'
import { Receive } from './receive'
import { Send } from './send'

/** Messages sends to a queue and receives from it, as a producer and a consumer do. */
export default function Messages({ queue, fifo }: TabProps) {
  return (
    <SpaceBetween size="l">
      <Send queue={queue} fifo={fifo} />
      <Receive queue={queue} fifo={fifo} />
    </SpaceBetween>
  )
}

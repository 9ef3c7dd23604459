import { sessionNow, settingsNow } from '../aws/session'
import { sluice } from '../aws/sluice'

/** MoveTask is a task that moves messages, as ListRedriveTasks has it. */
export interface MoveTask {
  TaskHandle?: string
  Status: 'RUNNING' | 'CANCELLING' | 'COMPLETED' | 'CANCELLED' | 'FAILED'
  StartedTimestamp: number
  EndedTimestamp?: number
  DestinationArn?: string
  MaxNumberOfMessagesPerSecond?: number
  Selects: boolean
  Filter?: string
  MessageIds?: number
  Edited?: boolean
  Scanned: number
  Total: number
  Moved: number
  Skipped: number
  FailureReason?: string
  Results?: { MessageId: string; Outcome: string; NewMessageId?: string }[]
}

/** outcomes are the outcomes of messages, in words. */
export const outcomes: Record<string, string> = {
  Moved: 'Moved',
  NotVisible: 'Not moved: in flight, delayed or behind a message that is',
  NoSource: 'Not moved: it names no source queue, or that queue now has another dead-letter queue',
  NoDestination: 'Not moved: the queue it came from is gone',
  TooLarge: 'Not moved: the edited message is too large for its queue',
}

/** arnOf returns the ARN of a queue of this account and region by its name; an ARN stays as it is. */
export function arnOf(queue: string): string {
  const { partition = 'aws', region } = settingsNow() ?? {}
  const name = queue.trim()
  return name.startsWith('arn:') ? name : `arn:${partition}:sqs:${region}:${sessionNow().account}:${name}`
}

/** patience is how long moveNow waits for the end of a task, in milliseconds, and pause how long between two looks. */
const patience = 20_000
const pause = 300

/**
 * moveNow begins a task that moves or edits a few messages, and waits for its end. It returns how many were moved, or nothing if
 * the task goes on. Where nothing was moved, it throws an error that says why.
 */
export async function moveNow(queue: string, input: object): Promise<number | undefined> {
  const { TaskHandle } = await sluice<{ TaskHandle: string }>('RedriveMessages', { QueueUrl: queue, ...input })
  const begun = Date.now()
  while (Date.now() - begun < patience) {
    const { Tasks } = await sluice<{ Tasks: MoveTask[] }>('ListRedriveTasks', { QueueUrl: queue })
    if (!Tasks.some((t) => t.TaskHandle === TaskHandle)) {
      const task = Tasks[0]
      if (!task || task.Moved > 0) {
        return task?.Moved ?? 0
      }
      const why = task.FailureReason ?? outcomes[task.Results?.[0]?.Outcome ?? '']
      throw new Error(`Nothing moved. ${why ?? 'The messages are gone.'}`)
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  return undefined
}

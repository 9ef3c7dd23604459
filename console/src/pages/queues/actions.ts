/** Action is what a dialog asks about before it is done with queues. */
export type Action = 'delete' | 'purge' | 'pause' | 'resume' | 'tag'

/** taken are the permissions that actions need. */
export const taken: Record<Action | 'edit', string> = {
  edit: 'sqs:SetQueueAttributes',
  delete: 'sqs:DeleteQueue',
  purge: 'sqs:PurgeQueue',
  pause: 'sqs:TagQueue',
  resume: 'sqs:UntagQueue',
  tag: 'sqs:TagQueue',
}

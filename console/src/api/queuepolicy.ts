import { GetQueueAttributesCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { sqs } from '../aws/sqs'
import { nameOf } from './queues'

interface Statement {
  Sid?: string
  Effect: string
  Principal?: unknown
  Action?: unknown
  Resource?: unknown
  Condition?: unknown
}

interface Policy {
  Version: string
  Id?: string
  Statement: Statement[]
}

/** statementFor lets only that topic send to a queue. */
export function statementFor(topic: string, queue: string): Statement {
  return {
    Sid: `topic-${nameOf(topic).replace(/[^A-Za-z0-9_-]/g, '-')}`.slice(0, 80),
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: queue,
    Condition: { ArnEquals: { 'aws:SourceArn': topic } },
  }
}

/** allowTopic adds that statement to the queue's policy, unless it is there. Other statements stay as they are. */
export async function allowTopic(topic: string, queue: string): Promise<void> {
  const name = nameOf(queue)
  const answer = await sqs().send(new GetQueueAttributesCommand({ QueueUrl: name, AttributeNames: ['Policy'] }))
  const text = answer.Attributes?.Policy
  const policy: Policy = text ? JSON.parse(text) : { Version: '2012-10-17', Statement: [] }
  const statements = Array.isArray(policy.Statement) ? policy.Statement : [policy.Statement]
  const wanted = statementFor(topic, queue)
  if (statements.some((s) => sameButSid(s, wanted))) {
    return
  }
  policy.Statement = [...statements.filter((s) => s.Sid !== wanted.Sid), wanted]
  await sqs().send(new SetQueueAttributesCommand({ QueueUrl: name, Attributes: { Policy: JSON.stringify(policy) } }))
}

function sameButSid(a: Statement, b: Statement): boolean {
  return JSON.stringify({ ...a, Sid: '' }) === JSON.stringify({ ...b, Sid: '' })
}

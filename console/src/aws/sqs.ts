import { SQSClient } from '@aws-sdk/client-sqs'
import { configured } from './configured'
import { patient } from './patience'

let client: SQSClient | undefined

/**
 * sqs returns the client of SQS. Queues are addressed by their names where a QueueUrl is asked for, which the server
 * understands: a URL could name another host than the one this page came from.
 */
export function sqs(): SQSClient {
  client ??= patient(new SQSClient({ ...configured(), useQueueUrlAsEndpoint: false }))
  return client
}

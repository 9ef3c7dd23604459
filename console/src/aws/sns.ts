import { SNSClient } from '@aws-sdk/client-sns'
import { configured } from './configured'

let client: SNSClient | undefined

/** sns returns the client of SNS. */
export function sns(): SNSClient {
  client ??= new SNSClient(configured())
  return client
}

import { SNSClient } from '@aws-sdk/client-sns'
import { configured } from './configured'
import { patient } from './patience'

let client: SNSClient | undefined

/** sns returns the client of SNS. */
export function sns(): SNSClient {
  client ??= patient(new SNSClient(configured()))
  return client
}

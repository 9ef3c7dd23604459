import { CloudWatchClient } from '@aws-sdk/client-cloudwatch'
import { configured } from './configured'
import { patient } from './patience'

let client: CloudWatchClient | undefined

/** cloudwatch returns the client of CloudWatch. */
export function cloudwatch(): CloudWatchClient {
  client ??= patient(new CloudWatchClient(configured()))
  return client
}

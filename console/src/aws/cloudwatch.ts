import { CloudWatchClient } from '@aws-sdk/client-cloudwatch'
import { configured } from './configured'

let client: CloudWatchClient | undefined

/** cloudwatch returns the client of CloudWatch. */
export function cloudwatch(): CloudWatchClient {
  client ??= new CloudWatchClient(configured())
  return client
}

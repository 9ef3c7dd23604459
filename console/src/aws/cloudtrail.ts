import { CloudTrailClient } from '@aws-sdk/client-cloudtrail'
import { configured } from './configured'

let client: CloudTrailClient | undefined

/** cloudtrail returns the client of CloudTrail. */
export function cloudtrail(): CloudTrailClient {
  client ??= new CloudTrailClient(configured())
  return client
}

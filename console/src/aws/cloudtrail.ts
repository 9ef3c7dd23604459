import { CloudTrailClient } from '@aws-sdk/client-cloudtrail'
import { configured } from './configured'
import { patient } from './patience'

let client: CloudTrailClient | undefined

/** cloudtrail returns the client of CloudTrail. */
export function cloudtrail(): CloudTrailClient {
  client ??= patient(new CloudTrailClient(configured()))
  return client
}

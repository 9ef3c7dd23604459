import { IAMClient } from '@aws-sdk/client-iam'
import { configured } from './configured'
import { patient } from './patience'

let client: IAMClient | undefined

/** iam returns the client of IAM. */
export function iam(): IAMClient {
  client ??= patient(new IAMClient(configured()))
  return client
}

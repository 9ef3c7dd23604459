import { IAMClient } from '@aws-sdk/client-iam'
import { configured } from './configured'

let client: IAMClient | undefined

/** iam returns the client of IAM. */
export function iam(): IAMClient {
  client ??= new IAMClient(configured())
  return client
}

import { endpoint } from './place'
import { credentials, settingsNow } from './session'

/** configured returns what the SDK's clients take: this server, the region it has told, the session's keys. */
export function configured() {
  return { endpoint, region: settingsNow()?.region ?? 'us-east-1', credentials, maxAttempts: 2 }
}

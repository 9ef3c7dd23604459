import { endpoint } from './place'
import { credentials, settingsNow } from './session'

/** configured returns the configuration of the SDK's clients: this server, its region, the session's keys. */
export function configured() {
  return { endpoint, region: settingsNow()?.region ?? 'us-east-1', credentials, maxAttempts: 2 }
}

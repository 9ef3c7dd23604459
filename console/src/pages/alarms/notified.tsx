import Link from '@cloudscape-design/components/link'
import type { AnyAlarm } from '../../api/alarm'
import { nameOf } from '../../api/queues'
import { address } from '../../frame/router'
import { Time, Words } from '../../parts/values'

function topics(arns: string[] | undefined) {
  if (!arns || arns.length === 0) {
    return 'No action'
  }
  return arns.map((arn) => (
    <div key={arn}>
      {arn.includes(':sns:') ? (
        <Link href={address(['topics', nameOf(arn)])}>
          <Words text={nameOf(arn)} />
        </Link>
      ) : (
        arn
      )}
    </div>
  ))
}

/** notified is what every alarm has in its definition: whom it notifies, and its identity. */
export function notified(alarm: AnyAlarm) {
  return [
    { label: 'Notified when it fires', value: topics(alarm.AlarmActions) },
    { label: 'Notified when it is OK again', value: topics(alarm.OKActions) },
    { label: 'Notified when data are missing', value: topics(alarm.InsufficientDataActions) },
    { label: 'Actions', value: alarm.ActionsEnabled === false ? 'Disabled' : 'Enabled' },
    { label: 'ARN', value: <Words text={alarm.AlarmArn} /> },
    { label: 'Changed', value: <Time at={alarm.AlarmConfigurationUpdatedTimestamp?.getTime()} /> },
  ]
}

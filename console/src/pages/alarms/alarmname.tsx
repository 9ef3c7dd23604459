import { useAlarms } from '../../api/alarms'
import { wrongAlarmName } from '../../data/names'
import { NameField } from '../../parts/namefield'

interface AlarmNameProps {
  name: string
  change: (name: string) => void
  tried: boolean
  editing: boolean
}

/** AlarmName asks for the name of a new alarm, and warns of one that exists: a save would replace it. */
export function AlarmName({ name, change, tried, editing }: AlarmNameProps) {
  const { data } = useAlarms()
  const exists = !editing && data?.some((alarm) => alarm.AlarmName === name)
  return (
    <NameField
      label="Alarm name"
      value={name}
      change={change}
      wrong={wrongAlarmName(name)}
      warning={exists ? `There is an alarm ${name}. This one would replace it.` : undefined}
      tried={tried}
      constraint={!editing && 'At most 255 characters.'}
      description={editing && 'The name of an alarm cannot change.'}
      disabled={editing}
    />
  )
}

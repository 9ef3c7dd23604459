import Spinner from '@cloudscape-design/components/spinner'
import { isComposite } from '../../api/alarm'
import { useAlarms } from '../../api/alarms'
import { isLost } from '../../aws/failure'
import type { PageProps } from '../../frame/page'
import { usePlace } from '../../frame/router'
import { Empty } from '../../parts/empty'
import { Problem } from '../../parts/problem'
import { Unshown } from '../../parts/unshown'
import { compositeDraftOf } from './compositedraft'
import { CompositeForm } from './compositeform'
import { blank, draftOf } from './draft'
import { AlarmWizard } from './wizard'

/** EditAlarm creates an alarm, from scratch, from the address or from a copy, or changes one. */
export default function EditAlarm({ parameters }: PageProps) {
  const { query } = usePlace()
  const source = parameters.alarm ?? query.get('copy') ?? ''
  return source ? (
    <Existing name={source} copy={!parameters.alarm} />
  ) : (
    <AlarmWizard
      title="Create alarm"
      first={{
        ...blank,
        name: query.get('queue') ? `${query.get('queue')}-` : '',
        queue: query.get('queue') ?? '',
        ...(query.get('metric') && { metric: query.get('metric') ?? '' }),
        ...(query.get('statistic') && { statistic: query.get('statistic') ?? '' }),
        ...(query.get('threshold') && { threshold: query.get('threshold') ?? '' }),
      }}
    />
  )
}

function Existing({ name, copy }: { name: string; copy: boolean }) {
  const { data, error, isPending, refetch } = useAlarms(name)
  const alarm = data?.[0]
  if (isLost(error, data)) {
    return (
      <Unshown name={copy ? `Copy ${name}` : `Edit ${name}`}>
        <Problem error={error} what="The alarm cannot be shown" retry={() => void refetch()} />
      </Unshown>
    )
  }
  if (isPending) {
    return <Spinner size="large" />
  }
  if (!alarm) {
    return (
      <Unshown name={name}>
        <Empty title="There is no such alarm">It may have been deleted.</Empty>
      </Unshown>
    )
  }
  if (isComposite(alarm)) {
    return <CompositeForm first={compositeDraftOf(alarm)} editing={name} />
  }
  const draft = draftOf(alarm)
  if (!draft) {
    return (
      <Unshown name={name}>
        <Empty title="This alarm watches an expression">
          It can be changed with PutMetricAlarm, as by aws cloudwatch put-metric-alarm or Terraform. This form knows
          alarms on one metric.
        </Empty>
      </Unshown>
    )
  }
  return (
    <AlarmWizard
      title={copy ? `Copy ${name}` : `Edit ${name}`}
      first={copy ? { ...draft, name: `${name}-copy` } : draft}
      {...(!copy && { editing: name })}
    />
  )
}

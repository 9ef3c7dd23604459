import Spinner from '@cloudscape-design/components/spinner'
import { isComposite } from '../../api/alarm'
import { useAlarms } from '../../api/alarms'
import { isLost } from '../../aws/failure'
import { usePlace } from '../../frame/router'
import { Empty } from '../../parts/empty'
import { Problem } from '../../parts/problem'
import { Unshown } from '../../parts/unshown'
import { blankComposite, compositeDraftOf } from './compositedraft'
import { CompositeForm } from './compositeform'

/** CreateComposite creates a composite alarm, of the alarms in the address or from a copy. */
export default function CreateComposite() {
  const { query } = usePlace()
  const copy = query.get('copy')
  if (copy) {
    return <Copy name={copy} />
  }
  return <CompositeForm first={blankComposite((query.get('of') ?? '').split('\n').filter(Boolean))} />
}

function Copy({ name }: { name: string }) {
  const { data, error, isPending, refetch } = useAlarms(name)
  const alarm = data?.[0]
  if (isLost(error, data)) {
    return (
      <Unshown name={`Copy ${name}`}>
        <Problem error={error} what="The alarm cannot be shown" retry={() => void refetch()} />
      </Unshown>
    )
  }
  if (isPending) {
    return <Spinner size="large" />
  }
  if (!alarm || !isComposite(alarm)) {
    return (
      <Unshown name={`Copy ${name}`}>
        <Empty title="There is no such composite alarm">It may have been deleted.</Empty>
      </Unshown>
    )
  }
  return <CompositeForm first={{ ...compositeDraftOf(alarm), name: `${name}-copy` }} />
}

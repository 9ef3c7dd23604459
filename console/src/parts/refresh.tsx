import Button from '@cloudscape-design/components/button'
import { useIsFetching, useQueryClient } from '@tanstack/react-query'

/**
 * Refresh looks again at all that the page shows, as the key r does: every query that is in use now. It turns while one of them
 * is asked again; nothing else is drawn for that.
 */
export function Refresh() {
  const client = useQueryClient()
  const fetching = useIsFetching({ predicate: (q) => q.state.status !== 'pending' })
  return (
    <Button iconName="refresh" ariaLabel="Refresh" loading={fetching > 0} onClick={() => client.invalidateQueries()} />
  )
}

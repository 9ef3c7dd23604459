import Select from '@cloudscape-design/components/select'
import TextFilter from '@cloudscape-design/components/text-filter'
import { count } from '../../data/format'
import { address, go, placeNow, usePlace } from '../../frame/router'
import { filters } from './list'
import { type Sorting, sortingText } from './sorting'

/** useFind returns which queues the address asks for, and how to ask for others. */
export function useFind() {
  const { query } = usePlace()
  const find = query.get('find') ?? ''
  const only = filters.find((f) => f.value === query.get('only')) ?? filters[0]
  const sort = query.get('sort') ?? ''
  return {
    find,
    sort,
    only,
    filtered: find !== '' || only !== filters[0],
    ask: (changes: { find?: string; only?: string; sort?: string }) =>
      go(address(['queues'], { find, only: only.value, sort, ...changes }), { replace: true }),
  }
}

/** sortBy changes the order of the queues in the address. */
export function sortBy(sorting: Sorting) {
  const asked = Object.fromEntries(placeNow().query)
  go(address(['queues'], { ...asked, sort: sortingText(sorting) }), { replace: true })
}

interface FindProps {
  matches: number | undefined
  /** plainly means that only the names of queues are known. */
  plainly: boolean
}

/** Find asks which queues to show. It knows the address itself: what is typed is drawn before there is an answer. */
export function Find({ matches, plainly }: FindProps) {
  const { find, only, filtered, ask } = useFind()
  return (
    <div className="filters">
      <TextFilter
        filteringText={find}
        filteringPlaceholder="Find queues by name"
        filteringAriaLabel="Find queues by name"
        countText={filtered && matches !== undefined ? `${count(matches)} ${matches === 1 ? 'match' : 'matches'}` : ''}
        onChange={({ detail }) => ask({ find: detail.filteringText })}
      />
      <Select
        selectedOption={only}
        options={plainly ? filters.filter((f) => f.ofNames) : filters}
        ariaLabel="Show only"
        onChange={({ detail }) => ask({ only: detail.selectedOption.value ?? '' })}
      />
    </div>
  )
}

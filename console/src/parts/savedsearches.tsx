import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import { useState } from 'react'
import { keepSearches, savedSearches, withSearch } from '../data/searches'

interface SavedSearchesProps {
  /** filter is what is searched for now. */
  filter: string
  search: (filter: string) => void
}

/** SavedSearches keeps searches of messages in this browser, for all queues. */
export function SavedSearches({ filter, search }: SavedSearchesProps) {
  const [saved, setSaved] = useState(savedSearches)
  const known = saved.includes(filter)
  function keep(searches: string[]) {
    setSaved(searches)
    keepSearches(searches)
  }
  return (
    <ButtonDropdown
      expandToViewport
      items={[
        known
          ? { id: 'forget', text: 'Forget this search' }
          : {
              id: 'save',
              text: 'Save this search',
              disabled: filter === '',
              disabledReason: 'Enter a search first.',
            },
        ...(saved.length > 0 ? [{ text: 'Saved', items: saved.map((text) => ({ id: `=${text}`, text })) }] : []),
      ]}
      onItemClick={({ detail: { id } }) => {
        if (id === 'save') {
          keep(withSearch(saved, filter))
        } else if (id === 'forget') {
          keep(saved.filter((s) => s !== filter))
        } else {
          search(id.slice(1))
        }
      }}
    >
      Saved searches
    </ButtonDropdown>
  )
}

import { useState } from 'react'
import { Paging } from '../../parts/paging'

/** all is how many pages may have their numbers side by side. */
const all = 7

interface PagesProps {
  index: number
  pages: number
  turnTo: (index: number) => void
}

/** Pages turns the pages of the list. Where they are many, the number of one is typed: that takes no more room than seven. */
export function Pages({ index, pages, turnTo }: PagesProps) {
  const [turned, setTurned] = useState({ shown: index, asked: index, times: 0 })
  if (index !== turned.shown) {
    // The field keeps the number that was asked for last; it has to forget it when another list begins at its first page.
    setTurned({ shown: index, asked: index, times: turned.times + Number(index !== turned.asked) })
  }
  return (
    <Paging
      key={turned.times}
      ariaLabels={{ paginationLabel: 'Pages of queues' }}
      currentPageIndex={index}
      pagesCount={pages}
      onChange={({ detail }) => {
        setTurned({ ...turned, asked: detail.currentPageIndex })
        turnTo(detail.currentPageIndex)
      }}
      {...(pages > all && { pagesVariant: 'compact', jumpToPage: {} })}
    />
  )
}

import Pagination, { type PaginationProps } from '@cloudscape-design/components/pagination'
import { useNarrow } from '../frame/narrow'

/** Paging turns the pages of a table. On a phone the only page needs no number. */
export function Paging(props: PaginationProps) {
  const narrow = useNarrow()
  return narrow && props.pagesCount <= 1 ? null : <Pagination {...props} />
}

import Table, { type TableProps } from '@cloudscape-design/components/table'
import { useNarrow } from '../frame/narrow'

/** none is the content of empty cells. A card omits them. */
export const none = '–'

/** Rows is a table, whose lines wrap where columns have no widths of their own. On a phone each row is a card: the first column, and below it the others with their headers. */
export function Rows<T>(props: TableProps<T>) {
  const narrow = useNarrow()
  if (!narrow) {
    return <Table key="table" wrapLines={!props.resizableColumns} {...props} />
  }
  const { columnDefinitions, columnDisplay, ...rest } = props
  const hidden = new Set(columnDisplay?.filter((c) => !c.visible).map((c) => c.id))
  const [first, ...others] = columnDefinitions.filter((c) => !hidden.has(c.id ?? ''))
  if (!first) {
    return null
  }
  const { width: _, minWidth: __, maxWidth: ___, ...named } = first
  const card: TableProps.ColumnDefinition<T> = {
    ...named,
    cell: (item) => (
      <div className="card">
        <div>{first.cell(item)}</div>
        <dl>
          {others
            .map((c) => ({ ...c, value: c.cell(item) }))
            .filter(({ value }) => value !== none)
            .map(({ id, header, value }, i) => (
              <div key={id ?? i}>
                <dt>{header}</dt>
                <dd>{value}</dd>
              </div>
            ))}
        </dl>
      </div>
    ),
  }
  // A table of its own, which takes no widths of columns along when a phone is turned.
  return <Table key="cards" {...rest} columnDefinitions={[card]} resizableColumns={false} wrapLines />
}

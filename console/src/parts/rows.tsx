import Table, { type TableProps } from '@cloudscape-design/components/table'
import { useNarrow } from '../frame/narrow'

/** Rows is a table. On a phone each row is a card: the first column, and below it the others with their headers. */
export function Rows<T>(props: TableProps<T>) {
  const narrow = useNarrow()
  if (!narrow) {
    return <Table {...props} />
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
          {others.map((c, i) => (
            <div key={c.id ?? i}>
              <dt>{c.header}</dt>
              <dd>{c.cell(item)}</dd>
            </div>
          ))}
        </dl>
      </div>
    ),
  }
  return <Table {...rest} columnDefinitions={[card]} resizableColumns={false} wrapLines />
}

import Table, { type TableProps } from '@cloudscape-design/components/table'
import { useCards } from '../frame/narrow'
import { Words } from './values'

/** none is the content of empty cells. A card omits them. */
export const none = '–'

/** withWords lets a text in a cell, such as a name at its longest, go on in the next line. */
function withWords<T>(column: TableProps.ColumnDefinition<T>): TableProps.ColumnDefinition<T> {
  const cell = (item: T) => {
    const value = column.cell(item)
    return typeof value === 'string' && value.length > 24 ? <Words text={value} /> : value
  }
  return { ...column, cell }
}

/** Rows is a table, whose lines wrap where columns have no widths of their own. On a phone or a tablet each row is a card: the first column, and below it the others with their headers. */
export function Rows<T>(props: TableProps<T>) {
  const cards = useCards()
  if (!cards) {
    const columns = props.columnDefinitions.map(withWords)
    return <Table key="table" wrapLines={!props.resizableColumns} {...props} columnDefinitions={columns} />
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
            .filter((c) => c.cell(item) !== none)
            .map((c) => ({ ...c, value: withWords(c).cell(item) }))
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

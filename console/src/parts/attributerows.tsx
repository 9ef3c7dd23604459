import AttributeEditor from '@cloudscape-design/components/attribute-editor'
import Input from '@cloudscape-design/components/input'
import Select from '@cloudscape-design/components/select'
import type { Attribute } from '../api/message'
import { fromBase64 } from '../data/decode'

/** Row is a message attribute that is being written: its type may have a suffix, as in Number.byte. */
export interface Row {
  name: string
  type: 'String' | 'Number' | 'Binary'
  suffix: string
  value: string
}

const types = (['String', 'Number', 'Binary'] as const).map((value) => ({ value, label: value }))

/** AttributeRows writes message attributes in rows. */
export function AttributeRows({ rows, change }: { rows: Row[]; change: (rows: Row[]) => void }) {
  const set = (i: number, part: Partial<Row>) => change(rows.map((r, j) => (i === j ? { ...r, ...part } : r)))
  return (
    <AttributeEditor
      items={rows}
      empty="The message has no attributes."
      addButtonText="Add new attribute"
      removeButtonText="Remove"
      disableAddButton={rows.length >= 10}
      additionalInfo="Ten at most."
      onAddButtonClick={() => change([...rows, { name: '', type: 'String', suffix: '', value: '' }])}
      onRemoveButtonClick={({ detail }) => change(rows.filter((_, i) => i !== detail.itemIndex))}
      definition={[
        {
          label: 'Name',
          control: (r, i) => (
            <Input value={r.name} ariaLabel="Name" onChange={({ detail }) => set(i, { name: detail.value })} />
          ),
        },
        {
          label: 'Type',
          control: (r, i) => (
            <Select
              selectedOption={{ value: r.type, label: r.type }}
              options={types}
              ariaLabel="Type"
              onChange={({ detail }) => set(i, { type: detail.selectedOption.value as Row['type'] })}
            />
          ),
        },
        {
          label: 'Custom type',
          control: (r, i) => (
            <Input
              value={r.suffix}
              ariaLabel="Custom type"
              placeholder="byte"
              onChange={({ detail }) => set(i, { suffix: detail.value })}
            />
          ),
        },
        {
          label: 'Value',
          errorText: (r) => rowError(r),
          control: (r, i) => (
            <Input
              value={r.value}
              ariaLabel="Value"
              placeholder={r.type === 'Binary' ? 'base64' : ''}
              onChange={({ detail }) => set(i, { value: detail.value })}
            />
          ),
        },
      ]}
    />
  )
}

function rowError(r: Row): string | undefined {
  if (r.type === 'Binary' && r.value !== '' && !fromBase64(r.value)) {
    return 'This is not base64.'
  }
  if (r.type === 'Number' && r.value !== '' && !/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(r.value)) {
    return 'This is not a number.'
  }
  return undefined
}

/** attributesOfRows makes message attributes of the rows that have a name. */
export function attributesOfRows(rows: Row[]): Record<string, Attribute> {
  return Object.fromEntries(
    rows
      .filter((r) => r.name !== '')
      .map((r) => [
        r.name,
        {
          DataType: r.suffix ? `${r.type}.${r.suffix.replace(/^\./, '')}` : r.type,
          ...(r.type === 'Binary' ? { BinaryValue: r.value } : { StringValue: r.value }),
        },
      ]),
  )
}

/** rowsOfAttributes is the way back. */
export function rowsOfAttributes(attributes: Record<string, Attribute>): Row[] {
  return Object.entries(attributes).map(([name, a]) => {
    const [type = 'String', ...suffix] = a.DataType.split('.')
    return { name, type: type as Row['type'], suffix: suffix.join('.'), value: a.BinaryValue ?? a.StringValue ?? '' }
  })
}

import AttributeEditor from '@cloudscape-design/components/attribute-editor'
import Input from '@cloudscape-design/components/input'
import type { Tag } from '../data/tags'

/** TagRows edits tags in rows of key and value. */
export function TagRows({ tags, change, empty }: { tags: Tag[]; change: (tags: Tag[]) => void; empty: string }) {
  const set = (i: number, part: Partial<Tag>) => change(tags.map((t, j) => (i === j ? { ...t, ...part } : t)))
  return (
    <AttributeEditor
      items={tags}
      addButtonText="Add new tag"
      removeButtonText="Remove"
      empty={empty}
      disableAddButton={tags.length >= 50}
      onAddButtonClick={() => change([...tags, { key: '', value: '' }])}
      onRemoveButtonClick={({ detail }) => change(tags.filter((_, i) => i !== detail.itemIndex))}
      definition={[
        {
          label: 'Key',
          errorText: (item) =>
            tags.filter((t) => t.key !== '' && t.key === item.key).length > 1 ? 'This key appears twice.' : undefined,
          control: (item, i) => (
            <Input value={item.key} onChange={({ detail }) => set(i, { key: detail.value })} ariaLabel="Key" />
          ),
        },
        {
          label: 'Value',
          control: (item, i) => (
            <Input value={item.value} onChange={({ detail }) => set(i, { value: detail.value })} ariaLabel="Value" />
          ),
        },
      ]}
    />
  )
}

import FormField from '@cloudscape-design/components/form-field'
import SegmentedControl from '@cloudscape-design/components/segmented-control'
import { useId } from 'react'

interface SegmentFieldProps {
  label: string
  chosen: string
  options: { id: string; text: string }[]
  choose: (id: string) => void
}

/** SegmentField chooses one of a few, below its label. A label of the control's own would be seen on phones only, and there twice. */
export function SegmentField({ label, chosen, options, choose }: SegmentFieldProps) {
  const id = useId()
  return (
    <FormField label={<span id={id}>{label}</span>} stretch>
      <SegmentedControl
        ariaLabelledby={id}
        selectedId={chosen}
        options={options}
        onChange={({ detail }) => choose(detail.selectedId)}
      />
    </FormField>
  )
}

import Input from '@cloudscape-design/components/input'
import Select from '@cloudscape-design/components/select'
import { useId } from 'react'
import type { Amount } from '../data/amount'

interface AmountInputProps {
  label: string
  amount: Amount
  units: string[]
  change: (amount: Amount) => void
  /** left is called when the number is left. */
  left?: () => void
}

/** AmountInput asks for a number and its unit. The form field around it labels the number. */
export function AmountInput({ label, amount, units, change, left }: AmountInputProps) {
  const id = useId()
  return (
    <div className="amount">
      <Input
        value={amount.value}
        type="number"
        inputMode="numeric"
        ariaLabel={label}
        onChange={({ detail }) => change({ ...amount, value: detail.value })}
        onBlur={() => left?.()}
      />
      <Select
        controlId={id}
        selectedOption={{ value: amount.unit, label: amount.unit }}
        options={units.map((value) => ({ value, label: value }))}
        ariaLabel={`Unit of ${label}`}
        onChange={({ detail }) => change({ ...amount, unit: detail.selectedOption.value ?? amount.unit })}
      />
    </div>
  )
}

import Button from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import Input from '@cloudscape-design/components/input'
import { useState } from 'react'
import { spans } from '../api/metrics'
import { instant } from '../data/format'
import { isFixed, parseTime, type Range, shortest, spanOf } from '../data/range'
import { usePreferences } from '../frame/preferences'
import { SegmentField } from './segmentfield'

interface SpanFieldProps {
  range: Range
  choose: (range: Range) => void
}

const own = 'own'

/** offered are the times beside an own one: the control has room for six. */
const offered = spans.filter((s) => s.hours !== 12)

/** SpanField chooses the time that graphs are of: the last hours, or one of its own. */
export function SpanField({ range, choose }: SpanFieldProps) {
  const [writing, setWriting] = useState(false)
  const fixed = isFixed(range)
  return (
    <>
      <SegmentField
        label="Time range"
        chosen={fixed || writing ? own : String(range.hours)}
        options={[...offered.map((s) => ({ id: String(s.hours), text: s.text })), { id: own, text: 'Custom' }]}
        choose={(id) => {
          setWriting(id === own)
          if (id !== own) {
            choose({ hours: Number(id) })
          }
        }}
      />
      {(fixed || writing) && <OwnSpan key={JSON.stringify(range)} range={range} choose={choose} />}
    </>
  )
}

/** OwnSpan is where the beginning and the end are typed. */
function OwnSpan({ range, choose }: SpanFieldProps) {
  const { zone } = usePreferences()
  const span = spanOf(range)
  const [from, setFrom] = useState(() => instant(span.start.getTime(), zone).slice(0, 16))
  const [to, setTo] = useState(() => instant(span.end.getTime(), zone).slice(0, 16))
  const [wrong, setWrong] = useState<{ from?: string; to?: string }>({})
  function show() {
    const [a, b] = [parseTime(from, zone), parseTime(to, zone)]
    if (a === undefined || b === undefined) {
      const words = 'Use the format 2026-11-27 02:30.'
      return setWrong({ ...(a === undefined && { from: words }), ...(b === undefined && { to: words }) })
    }
    if (b - a < shortest) {
      return setWrong({ to: 'The end must be at least five minutes after the start.' })
    }
    choose({ from: a, to: b })
  }
  const field = (label: string, value: string, set: (text: string) => void, error: string | undefined) => (
    <FormField label={label} errorText={error}>
      <Input
        value={value}
        autoComplete={false}
        onChange={({ detail }) => {
          set(detail.value)
          setWrong({})
        }}
        onKeyDown={({ detail }) => detail.key === 'Enter' && show()}
      />
    </FormField>
  )
  return (
    <>
      {field(zone === 'utc' ? 'From, UTC' : 'From', from, setFrom, wrong.from)}
      {field(zone === 'utc' ? 'To, UTC' : 'To', to, setTo, wrong.to)}
      <Button onClick={show}>Show</Button>
    </>
  )
}

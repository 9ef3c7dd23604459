import StatusIndicator from '@cloudscape-design/components/status-indicator'

const looks = {
  OK: { type: 'success', text: 'OK' },
  ALARM: { type: 'error', text: 'In alarm' },
  INSUFFICIENT_DATA: { type: 'pending', text: 'Insufficient data' },
} as const

/** State shows the state of an alarm. */
export function State({ state }: { state: string | undefined }) {
  const look = looks[state as keyof typeof looks]
  return look ? <StatusIndicator type={look.type}>{look.text}</StatusIndicator> : <span>{state}</span>
}

/** states are those by which a list is filtered. */
export const states = [
  { value: '', label: 'Any state' },
  { value: 'ALARM', label: 'In alarm' },
  { value: 'OK', label: 'OK' },
  { value: 'INSUFFICIENT_DATA', label: 'Insufficient data' },
]

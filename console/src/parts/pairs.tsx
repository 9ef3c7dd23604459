import KeyValuePairs, { type KeyValuePairsProps } from '@cloudscape-design/components/key-value-pairs'
import { useNarrow } from '../frame/narrow'

/** Pairs is a list of names and values, in columns; on a phone in one, where long values have room. */
export function Pairs({ columns, ...props }: KeyValuePairsProps) {
  const narrow = useNarrow()
  return <KeyValuePairs {...props} columns={narrow ? 1 : (columns ?? 1)} />
}

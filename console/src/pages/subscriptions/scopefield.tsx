import { SegmentField } from '../../parts/segmentfield'

/** ScopeField chooses what of a message a filter policy is about. */
export function ScopeField({ scope, choose }: { scope: string; choose: (scope: string) => void }) {
  return (
    <SegmentField
      label="Filter policy scope"
      chosen={scope}
      options={[
        { id: 'MessageAttributes', text: 'Message attributes' },
        { id: 'MessageBody', text: 'Message body' },
      ]}
      choose={choose}
    />
  )
}

import Popover from '@cloudscape-design/components/popover'

const terms: [string, string][] = [
  ['word, "two words"', 'the text is in the body, an attribute or the group; or it is the message ID'],
  ['attr.tenant:acme', 'the message attribute has that value'],
  ['body.order.lines.0.sku:a-1', 'the JSON body has that value there; * stands for any step'],
  ['attr.weight>1.5', 'the value is a number and compares so'],
  ['sent>2026-11-01, age>2h', 'when it was sent; without a zone in UTC'],
  ['count>=3, size>10k', 'how often it was received, how large it is'],
  ['id: group: dedup: sender: source:', 'fields of the message, in full or with * at an end'],
  ['-word', 'a minus excludes'],
]

/** Terms lists the terms of a filter. */
export function Terms() {
  return (
    <Popover
      header="A message is found if all terms hold"
      size="large"
      content={
        <dl className="terms">
          {terms.map(([term, holds]) => (
            <div key={term}>
              <dt>
                <code>{term}</code>
              </dt>
              <dd>{holds}</dd>
            </div>
          ))}
        </dl>
      }
    >
      All terms
    </Popover>
  )
}

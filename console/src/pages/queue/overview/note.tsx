import Button from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import Input, { type InputProps } from '@cloudscape-design/components/input'
import { useState } from 'react'
import { refused, useRefusals } from '../../../api/access'
import { useTags } from '../../../api/attributes'
import { keys } from '../../../api/keys'
import { tagQueue, untagQueue } from '../../../api/queueactions'
import { useAction } from '../../../api/useaction'
import { useFirstField } from '../../../frame/firstfield'
import { Dialog } from '../../../parts/dialog'

/** tag is the tag of a queue that has its note: all who may see the queue's tags read it. */
const tag = 'note'

/** longest is how long the value of a tag may be. */
const longest = 256

/** Note is what people have written about a queue for each other. */
export function Note({ queue }: { queue: string }) {
  const { data, isPending } = useTags(queue)
  const refusals = useRefusals([queue])
  const [writing, setWriting] = useState(false)
  if (!data) {
    return isPending ? <div className="note-room" /> : null
  }
  const note = data[tag] ?? ''
  return (
    <div className="row note-room">
      {note && <span className="note break">{note}</span>}
      <Button
        variant="inline-link"
        iconName="edit"
        ariaLabel={note ? 'Edit note' : 'Add a note'}
        {...refused(refusals, note ? 'sqs:UntagQueue' : 'sqs:TagQueue', 'sqs:TagQueue')}
        onClick={() => setWriting(true)}
      >
        {note ? 'Edit' : 'Add a note'}
      </Button>
      {writing && <Write queue={queue} note={note} close={() => setWriting(false)} />}
    </div>
  )
}

/** mistakeIn says what the value of a tag must not be. */
function mistakeIn(text: string): string | undefined {
  const [bad] = /[^\p{L}\p{N}\s_.:/=+\-@]/u.exec(text) ?? []
  if (bad !== undefined) {
    return `A tag cannot have ${bad}: letters, digits, spaces and _ . : / = + - @ are allowed.`
  }
  return text.length > longest ? `At most ${longest} characters.` : undefined
}

function Write({ queue, note, close }: { queue: string; note: string; close: () => void }) {
  const { busy, error, run } = useAction()
  const [text, setText] = useState(note)
  const field = useFirstField<InputProps.Ref>()
  const wrong = mistakeIn(text)
  const save = () =>
    run(
      async () => {
        await (text.trim() ? tagQueue(queue, { [tag]: text.trim() }) : untagQueue(queue, [tag]))
        return undefined
      },
      { stale: [keys.queueTags(queue)], done: close },
    )
  return (
    <Dialog
      title="Note"
      yes="Save"
      act={() => void save()}
      close={close}
      busy={busy}
      ready={wrong === undefined}
      error={error}
    >
      <FormField
        label="Note"
        constraintText={`The note is the queue's tag ${tag}, which all users of the queue see. ${text.length} of ${longest} characters.`}
        errorText={wrong}
        stretch
      >
        <Input
          ref={field}
          value={text}
          placeholder="Owner, link to the runbook"
          onChange={({ detail }) => setText(detail.value)}
          onKeyDown={({ detail }) => detail.key === 'Enter' && !wrong && void save()}
        />
      </FormField>
    </Dialog>
  )
}

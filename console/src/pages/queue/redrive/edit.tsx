import Alert from '@cloudscape-design/components/alert'
import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import type { TextareaProps } from '@cloudscape-design/components/textarea'
import { type ReactNode, useState } from 'react'
import type { Attribute, Message } from '../../../api/message'
import { dryRun, type Moves, movesNothing, type RedrivePlan } from '../../../api/redrive'
import { useAction } from '../../../api/useaction'
import { difference } from '../../../data/diff'
import { jsonError, pretty } from '../../../data/json'
import { useFirstField } from '../../../frame/firstfield'
import { AttributeRows, attributesOfRows, rowsOfAttributes } from '../../../parts/attributerows'
import { CodeArea } from '../../../parts/codearea'
import { Dialog } from '../../../parts/dialog'
import { Outcome } from './dryrun'

export interface Edit {
  Body?: string
  SetAttributes?: Record<string, Attribute>
  RemoveAttributes?: string[]
}

interface EditMessageProps {
  message: Message
  title?: string
  /** yes is what the button says. */
  yes?: string
  /** note says what becomes of the message. */
  note?: string
  /** plan is where the copy goes. */
  plan: RedrivePlan
  /** offer is what would help if the copy has nowhere to go. */
  offer?: ReactNode
  resend: (edit: Edit) => Promise<void>
  close: () => void
}

/** resent is what becomes of a dead letter. */
const resent = 'The resent copy gets a new ID. The dead letter is deleted once the copy is stored.'

/**
 * EditMessage mends a copy of a message, shows what is different, and sends it again. It makes a dry run before: a message that
 * would stay where it is leaves the editor open, with the edit.
 */
export function EditMessage({
  message,
  title = 'Edit and resend',
  yes = 'Resend',
  note = resent,
  plan,
  offer,
  resend,
  close,
}: EditMessageProps) {
  const before = message.Body
  const [body, setBody] = useState(before ?? '')
  const [old] = useState(() => rowsOfAttributes(message.MessageAttributes ?? {}))
  const [rows, setRows] = useState(old)
  const { busy, error, run } = useAction()
  const [doing, setDoing] = useState<'trying' | 'resending'>()
  const [tried, setTried] = useState<{ asked: string; moves: Moves }>()
  const field = useFirstField<TextareaProps.Ref>()
  const changes = changesOf(attributesOfRows(old), attributesOfRows(rows))
  const same = body === before && Object.keys(changes).length === 0
  const broken = before !== undefined && jsonError(before) === undefined && jsonError(body) !== undefined

  const edit: Edit = { ...(body !== before && { Body: body }), ...changes }
  const unready = same || body === '' || before === undefined

  function act(what: 'trying' | 'resending', done: () => Promise<unknown>) {
    setDoing(what)
    return run(async () => {
      await done()
      return undefined
    })
  }
  const asked = JSON.stringify({ ...plan, Edit: edit })
  const outcome = tried?.asked === asked ? tried.moves : undefined
  const submit = () =>
    act('resending', async () => {
      const moves = await attempt()
      if (!movesNothing(moves)) {
        await resend(edit)
        close()
      }
    })
  async function attempt(): Promise<Moves> {
    const moves = await dryRun({ ...plan, Edit: edit }, new AbortController().signal, () => undefined)
    setTried({ asked, moves })
    return moves
  }

  return (
    <Dialog
      title={title}
      size="max"
      more={
        <Button loading={busy && doing === 'trying'} disabled={unready} onClick={() => act('trying', attempt)}>
          Dry run
        </Button>
      }
      yes={yes}
      act={submit}
      close={close}
      busy={busy && doing === 'resending'}
      ready={!unready && !(outcome !== undefined && movesNothing(outcome))}
      error={error}
      failed="Not resent"
    >
      {before === undefined && (
        <Alert type="warning">Editing a message requires the permission sluice:PeekMessageBody.</Alert>
      )}
      <CodeArea
        label="Message body"
        field={field}
        value={body}
        change={setBody}
        rows={10}
        warning={broken ? jsonError(body) : undefined}
      />
      <FormField label="Message attributes" stretch>
        <AttributeRows rows={rows} change={setRows} />
      </FormField>
      {before !== undefined && !same && (
        <div>
          <Box variant="awsui-key-label">Difference</Box>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
          <pre className="code body" tabIndex={0}>
            {[
              ...(body === before ? [] : difference(pretty(before), pretty(body))),
              ...difference(listOf(attributesOfRows(old)), listOf(attributesOfRows(rows))).filter(
                (line) => line.kind !== ' ' && line.text !== '',
              ),
            ].map((line, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
              <span key={i} className={line.kind === '+' ? 'added' : line.kind === '-' ? 'removed' : undefined}>
                {`${line.kind} ${line.text}\n`}
              </span>
            ))}
          </pre>
        </div>
      )}
      {outcome && <Outcome moves={outcome} offer={offer} />}
      <Box color="text-body-secondary" fontSize="body-s">
        {note} The audit trail records the editor.
      </Box>
    </Dialog>
  )
}

/** listOf writes attributes one a line, so that they can be compared. */
function listOf(attributes: Record<string, Attribute>): string {
  return Object.entries(attributes)
    .map(([name, a]) => `${name} (${a.DataType}): ${a.StringValue ?? a.BinaryValue ?? ''}`)
    .sort()
    .join('\n')
}

function changesOf(before: Record<string, Attribute>, after: Record<string, Attribute>): Edit {
  const set = Object.entries(after).filter(([name, a]) => JSON.stringify(before[name]) !== JSON.stringify(a))
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  return {
    ...(set.length > 0 && { SetAttributes: Object.fromEntries(set) }),
    ...(removed.length > 0 && { RemoveAttributes: removed }),
  }
}

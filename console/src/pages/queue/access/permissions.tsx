import Button from '@cloudscape-design/components/button'
import Checkbox from '@cloudscape-design/components/checkbox'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import Multiselect from '@cloudscape-design/components/multiselect'
import RadioGroup, { type RadioGroupProps } from '@cloudscape-design/components/radio-group'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '../../../api/keys'
import { setQueueAttributes } from '../../../api/queueactions'
import { useAction } from '../../../api/useaction'
import { object } from '../../../data/json'
import { useFirstField } from '../../../frame/firstfield'
import { notify } from '../../../frame/notices'
import { Bar } from '../../../parts/bar'
import { Confirm } from '../../../parts/confirm'
import { Dialog } from '../../../parts/dialog'
import { Empty } from '../../../parts/empty'
import { Rows } from '../../../parts/rows'

type Statement = Record<string, unknown>

interface Shown {
  key: string
  sid: string
  effect: string
  principals: string
  actions: string
  conditions: string
  statement: Statement
}

const actions = [
  'SendMessage',
  'ReceiveMessage',
  'DeleteMessage',
  'ChangeMessageVisibility',
  'GetQueueAttributes',
  'GetQueueUrl',
  'ListDeadLetterSourceQueues',
  'PurgeQueue',
].map((name) => ({ value: `sqs:${name}`, label: name }))

interface PermissionsProps {
  queue: string
  arn: string
  policy: string
}

/** Permissions lists the statements of the policy, and adds to them and takes them away. */
export function Permissions({ queue, arn, policy }: PermissionsProps) {
  const client = useQueryClient()
  const [chosen, setChosen] = useState<Shown[]>([])
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState(false)
  const document = object(policy)
  const statements = [document?.Statement ?? []].flat() as Statement[]
  const rows = statements.map(show)

  async function save(next: Statement[]) {
    const text = next.length === 0 ? '' : JSON.stringify({ Version: '2012-10-17', ...document, Statement: next })
    await setQueueAttributes(queue, { Policy: text })
    setChosen([])
    await client.invalidateQueries({ queryKey: keys.attributes(queue) })
  }

  return (
    <>
      <Rows
        variant="container"
        items={rows}
        trackBy="key"
        wrapLines
        selectionType="multi"
        selectedItems={chosen}
        onSelectionChange={({ detail }) => setChosen(detail.selectedItems)}
        ariaLabels={{
          tableLabel: 'Permissions',
          selectionGroupLabel: 'Choose permissions',
          allItemsSelectionLabel: () => 'Choose all permissions',
          itemSelectionLabel: (_, row) => `Choose ${row.sid || row.actions}`,
        }}
        header={
          <Header
            variant="h2"
            counter={`(${rows.length})`}
            actions={
              <Bar>
                <Button disabled={chosen.length === 0} onClick={() => setRemoving(true)}>
                  Remove
                </Button>
                <Button onClick={() => setAdding(true)}>Add a Permission</Button>
              </Bar>
            }
          >
            Permissions
          </Header>
        }
        empty={
          <Empty title="Only the queue's account may use it">
            Add a permission to let another account, a topic or everyone send or receive.
          </Empty>
        }
        columnDefinitions={[
          {
            id: 'effect',
            header: 'Effect',
            cell: (s) => (
              <StatusIndicator type={s.effect === 'Allow' ? 'success' : 'error'}>{s.effect}</StatusIndicator>
            ),
            width: 120,
          },
          {
            id: 'principals',
            header: 'Principals',
            cell: (s) => <span className="break">{s.principals}</span>,
            isRowHeader: true,
          },
          { id: 'actions', header: 'Actions', cell: (s) => <span className="break">{s.actions}</span> },
          { id: 'conditions', header: 'Conditions', cell: (s) => <span className="break">{s.conditions}</span> },
          { id: 'sid', header: 'Label', cell: (s) => <span className="break">{s.sid}</span>, width: 160 },
        ]}
      />
      {adding && (
        <AddPermission
          arn={arn}
          close={() => setAdding(false)}
          add={async (statement) => {
            await save([...statements, statement])
            notify({ header: `Added a permission to ${queue}` })
          }}
        />
      )}
      {removing && (
        <Confirm
          title={`Remove ${chosen.length === 1 ? 'this permission' : `${chosen.length} permissions`}?`}
          yes="Remove"
          close={() => setRemoving(false)}
          act={async () => {
            const gone = new Set(chosen.map((row) => row.statement))
            await save(statements.filter((s) => !gone.has(s)))
            notify({
              header: `Removed ${chosen.length === 1 ? 'a permission' : `${chosen.length} permissions`} from ${queue}`,
              action: { text: 'Undo', do: () => void save(statements) },
            })
          }}
        >
          Principals without another permission lose access with the next request.
        </Confirm>
      )}
    </>
  )
}

function show(statement: Statement, i: number): Shown {
  const words = (value: unknown) =>
    [value ?? []]
      .flat()
      .map((v) => (typeof v === 'string' ? v.replace(/^sqs:/i, '') : JSON.stringify(v)))
      .join(', ')
  const principal = statement.Principal ?? statement.NotPrincipal
  const who =
    principal === '*' || object(JSON.stringify(principal ?? null))?.AWS === '*'
      ? 'Everybody'
      : typeof principal === 'object' && principal !== null
        ? Object.values(principal).map(words).join(', ')
        : words(principal)
  return {
    key: String(i),
    sid: typeof statement.Sid === 'string' ? statement.Sid : '',
    effect: String(statement.Effect),
    principals: statement.NotPrincipal ? `All but ${who}` : who,
    actions: statement.NotAction ? `All but ${words(statement.NotAction)}` : words(statement.Action),
    conditions: statement.Condition ? JSON.stringify(statement.Condition) : 'None',
    statement,
  }
}

function AddPermission({
  arn,
  add,
  close,
}: {
  arn: string
  add: (statement: Statement) => Promise<void>
  close: () => void
}) {
  const field = useFirstField<RadioGroupProps.Ref>()
  const [label, setLabel] = useState('')
  const [effect, setEffect] = useState('Allow')
  const [who, setWho] = useState('')
  const [everybody, setEverybody] = useState(false)
  const [what, setWhat] = useState<readonly { value?: string; label?: string }[]>([])
  const [all, setAll] = useState(false)
  const [from, setFrom] = useState('')
  const { busy, error, run } = useAction()
  const principals = who.split(/[\s,]+/).filter(Boolean)
  const ready = (everybody || principals.length > 0) && (all || what.length > 0)

  async function submit() {
    await run(
      async () => {
        await add({
          ...(label && { Sid: label }),
          Effect: effect,
          Principal: everybody ? '*' : { AWS: principals },
          Action: all ? 'sqs:*' : what.map((a) => a.value),
          Resource: arn,
          ...(from.trim() && { Condition: { ArnLike: { 'aws:SourceArn': from.trim() } } }),
        })
        return undefined
      },
      { done: close },
    )
  }

  return (
    <Dialog
      title="Add a Permission"
      yes="Add Permission"
      act={submit}
      close={close}
      busy={busy}
      ready={ready}
      error={error}
      failed="Not added"
    >
      <FormField label="Effect">
        <RadioGroup
          ref={field}
          value={effect}
          onChange={({ detail }) => setEffect(detail.value)}
          items={[
            { value: 'Allow', label: 'Allow' },
            { value: 'Deny', label: 'Deny' },
          ]}
        />
      </FormField>
      <FormField label="Principal" description="Account numbers or ARNs of users and roles, separated by commas.">
        <SpaceBetween size="xs">
          <Input
            value={who}
            disabled={everybody}
            placeholder="111122223333, arn:aws:iam::111122223333:user/jane"
            spellcheck={false}
            onChange={({ detail }) => setWho(detail.value)}
          />
          <Checkbox checked={everybody} onChange={({ detail }) => setEverybody(detail.checked)}>
            Everybody (*)
          </Checkbox>
        </SpaceBetween>
      </FormField>
      <FormField label="Actions">
        <SpaceBetween size="xs">
          <Multiselect
            selectedOptions={what}
            options={actions}
            disabled={all}
            placeholder="Choose actions"
            onChange={({ detail }) => setWhat(detail.selectedOptions)}
          />
          <Checkbox checked={all} onChange={({ detail }) => setAll(detail.checked)}>
            All SQS Actions (sqs:*)
          </Checkbox>
        </SpaceBetween>
      </FormField>
      <FormField
        label={
          <>
            Only from <i>- optional</i>
          </>
        }
        description="A condition on aws:SourceArn, such as the ARN of a topic."
      >
        <Input value={from} spellcheck={false} onChange={({ detail }) => setFrom(detail.value)} />
      </FormField>
      <FormField
        label={
          <>
            Label <i>- optional</i>
          </>
        }
      >
        <Input value={label} spellcheck={false} onChange={({ detail }) => setLabel(detail.value)} />
      </FormField>
    </Dialog>
  )
}

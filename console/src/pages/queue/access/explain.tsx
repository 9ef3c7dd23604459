import Alert from '@cloudscape-design/components/alert'
import AttributeEditor from '@cloudscape-design/components/attribute-editor'
import Autosuggest from '@cloudscape-design/components/autosuggest'
import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import ExpandableSection from '@cloudscape-design/components/expandable-section'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type Explained, explainAccess } from '../../../api/explain'
import { sessionNow } from '../../../aws/session'
import { pretty } from '../../../data/json'
import { Copy } from '../../../parts/copy'
import { Problem } from '../../../parts/problem'
import { Rows } from '../../../parts/rows'

const actions = [
  'SendMessage',
  'ReceiveMessage',
  'DeleteMessage',
  'ChangeMessageVisibility',
  'GetQueueAttributes',
  'SetQueueAttributes',
  'PurgeQueue',
  'DeleteQueue',
]
  .map((name) => `sqs:${name}`)
  .concat('sluice:PeekMessages', 'sluice:PeekMessageBody', 'sluice:RedriveMessages', 'sluice:DeleteMessages')
  .concat('sluice:PauseMessageGroups', 'sluice:ResumeMessageGroups', 'sluice:UndoDelete', 'sluice:UndoPurge')

/** Explain reports whether a principal may take an action on the queue, and why. */
export function Explain({ queue }: { queue: string }) {
  const [who, setWho] = useState(sessionNow().arn)
  const [action, setAction] = useState('sqs:SendMessage')
  const [context, setContext] = useState<{ key: string; values: string }[]>([])
  const asked = useMutation({
    mutationFn: () =>
      explainAccess({
        QueueUrl: queue,
        Principal: who.trim(),
        Action: action.trim(),
        Context: context
          .filter((c) => c.key)
          .map((c) => ({
            Key: c.key,
            Values: c.values
              .split(',')
              .map((v) => v.trim())
              .filter(Boolean),
          })),
      }),
  })
  const setKey = (i: number, part: Partial<{ key: string; values: string }>) =>
    setContext(context.map((c, j) => (i === j ? { ...c, ...part } : c)))
  return (
    <Container
      header={
        <Header
          variant="h2"
          description="Whether a principal may take an action on this queue, which statement decides, and which one is missing."
        >
          Explain access
        </Header>
      }
    >
      <form
        onSubmit={(e) => {
          e.preventDefault()
          asked.mutate()
        }}
      >
        <SpaceBetween size="m">
          <ColumnLayout columns={2}>
            <FormField label="Principal" constraintText="An ARN, an account's number, or anonymous.">
              <Input value={who} spellcheck={false} onChange={({ detail }) => setWho(detail.value)} />
            </FormField>
            <FormField label="Action">
              <Autosuggest
                value={action}
                ariaLabel="Action"
                enteredTextLabel={(text) => `Use ${text}`}
                options={actions.map((value) => ({ value }))}
                onChange={({ detail }) => setAction(detail.value)}
              />
            </FormField>
          </ColumnLayout>
          <ExpandableSection headerText="Condition keys of the request" headingTagOverride="h3">
            <AttributeEditor
              items={context}
              empty="Nothing."
              addButtonText="Add key"
              removeButtonText="Remove"
              onAddButtonClick={() => setContext([...context, { key: '', values: '' }])}
              onRemoveButtonClick={({ detail }) => setContext(context.filter((_, i) => i !== detail.itemIndex))}
              definition={[
                {
                  label: 'Key',
                  control: (c, i) => (
                    <Input
                      value={c.key}
                      ariaLabel="Key"
                      placeholder="aws:SourceIp"
                      onChange={({ detail }) => setKey(i, { key: detail.value })}
                    />
                  ),
                },
                {
                  label: 'Values',
                  control: (c, i) => (
                    <Input
                      value={c.values}
                      ariaLabel="Values"
                      placeholder="10.0.0.7"
                      onChange={({ detail }) => setKey(i, { values: detail.value })}
                    />
                  ),
                },
              ]}
            />
          </ExpandableSection>
          <Button formAction="submit" loading={asked.isPending} disabled={!who.trim() || !action.trim()}>
            Explain
          </Button>
          {asked.error && <Problem error={asked.error} what="Not explained" />}
          {asked.data && <Answer explained={asked.data} />}
        </SpaceBetween>
      </form>
    </Container>
  )
}

function Answer({ explained: x }: { explained: Explained }) {
  const allowed = x.Decision === 'allowed'
  const title = allowed
    ? 'Allowed'
    : x.Decision === 'explicitDeny'
      ? 'Denied by a statement'
      : 'Not allowed: no statement allows it'
  return (
    <SpaceBetween size="m">
      <Alert type={allowed ? 'success' : 'warning'} header={title}>
        <SpaceBetween size="xs">
          <span className="break">
            {[x.Message, x.By && `Decided by: ${x.By}${x.Rule ? `, ${x.Rule}` : ''}.`, x.Assumed]
              .filter(Boolean)
              .join(' ')}
          </span>
          {x.MissingContextKeys.length > 0 && <span>Conditions also ask for {x.MissingContextKeys.join(', ')}.</span>}
          {x.Remedy && <span className="break">{x.Remedy.Text}</span>}
          {x.Remedy?.Statement && (
            <>
              <pre className="code">{pretty(x.Remedy.Statement)}</pre>
              <Copy text={pretty(x.Remedy.Statement)} label="Copy statement" />
            </>
          )}
        </SpaceBetween>
      </Alert>
      <Rows
        variant="embedded"
        wrapLines
        items={x.Statements.map((s, i) => ({ ...s, key: String(i) }))}
        trackBy="key"
        ariaLabels={{ tableLabel: 'Statements' }}
        empty="No statement applies to this request."
        footer={x.MoreStatements ? <Box textAlign="center">{x.MoreStatements} others do not apply.</Box> : undefined}
        columnDefinitions={[
          {
            id: 'where',
            header: 'Statement',
            isRowHeader: true,
            cell: (s) => (
              <span className="break">
                {s.Source}
                {s.Policy && ` ${s.Policy}`}
                {s.Line > 0 && `, line ${s.Line}`}
                {s.Sid && ` (${s.Sid})`}
              </span>
            ),
          },
          { id: 'effect', header: 'Effect', cell: (s) => s.Effect, width: 100 },
          {
            id: 'applies',
            header: 'Applies',
            width: 140,
            cell: (s) => (
              <StatusIndicator type={s.Decided ? (allowed ? 'success' : 'error') : s.Applies ? 'info' : 'stopped'}>
                {s.Decided ? 'Decides' : s.Applies ? 'Applies' : 'Does not apply'}
              </StatusIndicator>
            ),
          },
          {
            id: 'reason',
            header: 'Why',
            cell: (s) => <span className="break">{[s.Element, s.Reason].filter(Boolean).join(': ')}</span>,
          },
        ]}
      />
    </SpaceBetween>
  )
}

import Alert from '@cloudscape-design/components/alert'
import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Checkbox from '@cloudscape-design/components/checkbox'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import ContentLayout from '@cloudscape-design/components/content-layout'
import FormComponent from '@cloudscape-design/components/form'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import RadioGroup from '@cloudscape-design/components/radio-group'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import Textarea from '@cloudscape-design/components/textarea'
import Tiles from '@cloudscape-design/components/tiles'
import { useState } from 'react'
import { useAttributes, useTags } from '../../api/attributes'
import { keys } from '../../api/keys'
import { createQueue, queueAttribute, setQueueAttributes, tagQueue, untagQueue } from '../../api/queueactions'
import { useTaken } from '../../api/taken'
import { useAction } from '../../api/useaction'
import { sessionNow, settingsNow } from '../../aws/session'
import { record } from '../../data/tags'
import { goToFirstWrong } from '../../frame/firstwrong'
import { useLeft } from '../../frame/left'
import type { PageProps } from '../../frame/page'
import { address, go } from '../../frame/router'
import { AmountInput } from '../../parts/amount'
import { CopyAs } from '../../parts/copyasmenu'
import { NameField } from '../../parts/namefield'
import { PolicyField } from '../../parts/policyfield'
import { Problem } from '../../parts/problem'
import { QueueField } from '../../parts/queuefield'
import { TagRows } from '../../parts/tags'
import { Unshown } from '../../parts/unshown'
import {
  attributesOf,
  check,
  creation,
  deadLetterName,
  difference,
  type Form,
  formOf,
  fresh,
  fullName,
  number,
  settings,
  times,
} from './form'

/** CreateQueue is the form of a queue: of a new one, or of one that exists. */
export default function CreateQueue({ parameters }: PageProps) {
  const queue = parameters.queue ?? ''
  const attributes = useAttributes(queue)
  const tags = useTags(queue)
  if (queue === '') {
    return <QueueForm before={fresh()} />
  }
  const error = attributes.error ?? tags.error
  if (error && !(attributes.data && tags.data)) {
    return (
      <Unshown name={`Edit ${queue}`}>
        <Problem
          error={error}
          what="The queue's settings"
          retry={() => void Promise.all([attributes.refetch(), tags.refetch()])}
        />
      </Unshown>
    )
  }
  if (!attributes.data || !tags.data) {
    return <Spinner size="large" />
  }
  return <QueueForm key={queue} queue={queue} before={formOf(queue, attributes.data, tags.data)} />
}

function arnOf(queue: string): string {
  return `arn:${settingsNow()?.partition ?? 'aws'}:sqs:${settingsNow()?.region}:${sessionNow().account}:${queue}`
}

function QueueForm({ queue, before: given }: { queue?: string; before: Form }) {
  const [before] = useState(given)
  const [form, setForm] = useState(before)
  const [tried, setTried] = useState(false)
  const { busy, error, run, forget } = useAction()
  const set = (some: Partial<Form>) => setForm((old) => ({ ...old, ...some }))
  const name = fullName(form)
  const dead = form.redrive && form.createDeadLetterQueue ? deadLetterName(form) : ''
  const taken = { name: useTaken(queue === undefined ? name : ''), dead: useTaken(form.name && dead) }
  const errors = { ...check(form), ...(taken.dead && { deadLetterQueue: taken.dead }) }
  const wrong = taken.name !== undefined || Object.keys(errors).length > 0
  const left = useLeft<keyof Form>()
  const error_ = (field: keyof Form) => (tried || field === 'policy' || left.has(field) ? errors[field] : undefined)

  async function save() {
    setTried(true)
    forget()
    if (wrong) {
      goToFirstWrong()
      return
    }
    await run(
      async () => {
        let arn = form.redrive ? arnOf(deadLetterName(form)) : ''
        if (form.redrive && form.createDeadLetterQueue) {
          arn = await makeDeadLetterQueue(form)
        }
        if (queue === undefined) {
          const { name: QueueName, attributes: Attributes, tags } = creation(form, arn)
          await createQueue(QueueName, Attributes, tags)
        } else {
          await change(queue, before, form, arn)
        }
        return { header: queue === undefined ? `Created ${name}` : `Saved ${name}` }
      },
      { stale: [keys.everything], done: () => go(address(['queues', name])) },
    )
  }

  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        void save()
      }}
    >
      <ContentLayout header={<Header variant="h1">{queue === undefined ? 'Create queue' : `Edit ${queue}`}</Header>}>
        <FormComponent
          secondaryActions={
            <CopyAs disabled={wrong} made={() => creation(form, form.redrive ? arnOf(deadLetterName(form)) : '')} />
          }
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button
                variant="link"
                formAction="none"
                onClick={() => go(queue === undefined ? '/queues' : address(['queues', queue]))}
              >
                Cancel
              </Button>
              <Button variant="primary" formAction="submit" loading={busy}>
                {queue === undefined ? 'Create queue' : 'Save'}
              </Button>
            </SpaceBetween>
          }
          errorText={tried && wrong ? 'Correct the fields that show errors.' : undefined}
        >
          <SpaceBetween size="l">
            {queue === undefined && (
              <Container header={<Header variant="h2">Details</Header>}>
                <SpaceBetween size="l">
                  <FormField label="Type" description="The type cannot be changed later." stretch>
                    <Tiles
                      value={form.fifo ? 'fifo' : 'standard'}
                      onChange={({ detail }) => set({ fifo: detail.value === 'fifo' })}
                      items={[
                        {
                          value: 'standard',
                          label: 'Standard',
                          description:
                            'Each message is delivered at least once, in about the order of sending. Consumers work side by side.',
                        },
                        {
                          value: 'fifo',
                          label: 'FIFO',
                          description:
                            'First in, first out: strict order in each message group, and no duplicates within 5 minutes.',
                        },
                      ]}
                    />
                  </FormField>
                  <NameField
                    label="Name"
                    value={form.name}
                    change={(name) => set({ name })}
                    wrong={errors.name}
                    taken={taken.name}
                    tried={tried}
                    constraint={
                      form.fifo && form.name && !form.name.endsWith('.fifo')
                        ? `It will be ${name}: names of FIFO queues end in .fifo.`
                        : 'Letters, digits, hyphens and underscores, at most 80.'
                    }
                    autoFocus
                  />
                </SpaceBetween>
              </Container>
            )}
            <Container header={<Header variant="h2">Configuration</Header>}>
              <SpaceBetween size="l">
                <ColumnLayout columns={2}>
                  {settings.map((s) => (
                    <FormField key={s.field} label={s.label} constraintText={s.hint} errorText={error_(s.field)}>
                      <AmountInput
                        label={s.label}
                        amount={form[s.field]}
                        units={s.units}
                        change={(amount) => set({ [s.field]: amount })}
                        left={() => left.leave(s.field)}
                      />
                    </FormField>
                  ))}
                </ColumnLayout>
                {form.fifo && <FifoFields form={form} set={set} />}
              </SpaceBetween>
            </Container>
            <Container header={<Header variant="h2">Encryption</Header>}>
              <EncryptionFields form={form} set={set} leave={left.leave} error={error_('kmsReuse')} />
            </Container>
            <Container
              header={
                <Header
                  variant="h2"
                  description="Takes the messages that were received too often without being deleted."
                >
                  Dead-letter queue
                </Header>
              }
            >
              <DeadLetterFields
                form={form}
                set={set}
                leave={left.leave}
                error={error_}
                name={name}
                taken={taken.dead}
              />
            </Container>
            <Container
              header={
                <Header variant="h2" description="The queues that may use this queue as their dead-letter queue.">
                  Redrive allow policy
                </Header>
              }
            >
              <SpaceBetween size="m">
                <RadioGroup
                  value={form.redriveAllow}
                  ariaLabel="Redrive allow policy"
                  onChange={({ detail }) => set({ redriveAllow: detail.value as Form['redriveAllow'] })}
                  items={[
                    { value: 'allowAll', label: 'Allow all' },
                    { value: 'byQueue', label: 'By queue' },
                    { value: 'denyAll', label: 'Deny all' },
                  ]}
                />
                {form.redriveAllow === 'byQueue' && (
                  <FormField
                    label="Source queues"
                    description="ARNs, one a line, at most 10."
                    errorText={error_('sources')}
                  >
                    <Textarea
                      value={form.sources}
                      onChange={({ detail }) => set({ sources: detail.value })}
                      onBlur={() => left.leave('sources')}
                      spellcheck={false}
                      rows={4}
                    />
                  </FormField>
                )}
              </SpaceBetween>
            </Container>
            <Container
              header={
                <Header
                  variant="h2"
                  description="Lets other principals use the queue. Users of the account also need a policy of their own."
                >
                  Access policy
                </Header>
              }
            >
              <PolicyField
                value={form.policy}
                change={(policy) => set({ policy })}
                arn={arnOf(name || 'queue')}
                error={errors.policy}
              />
            </Container>
            <Container header={<Header variant="h2">Tags</Header>}>
              <TagRows tags={form.tags} change={(tags) => set({ tags })} empty="The queue has no tags." />
            </Container>
            {error !== undefined && <Problem error={error} what={queue === undefined ? 'Not created' : 'Not saved'} />}
          </SpaceBetween>
        </FormComponent>
      </ContentLayout>
    </form>
  )
}

/** makeDeadLetterQueue makes a queue of the same type that keeps messages as long as can be, and returns its ARN. */
async function makeDeadLetterQueue(form: Form): Promise<string> {
  const name = deadLetterName(form)
  const attributes = { MessageRetentionPeriod: '1209600', ...(form.fifo && { FifoQueue: 'true' }) }
  await createQueue(name, attributes)
  return (await queueAttribute(name, 'QueueArn')) ?? arnOf(name)
}

/** change sends what is different, and no more: two people who change different things do not undo each other's. */
async function change(queue: string, before: Form, after: Form, dead: string) {
  const old = attributesOf(before, before.redrive ? arnOf(deadLetterName(before)) : '')
  const attributes = difference(old, attributesOf(after, dead))
  if (Object.keys(attributes).length > 0) {
    await setQueueAttributes(queue, attributes)
  }
  const [had, has] = [record(before.tags), record(after.tags)]
  const gone = Object.keys(had).filter((key) => !(key in has))
  const added = Object.fromEntries(Object.entries(has).filter(([key, value]) => had[key] !== value))
  if (gone.length > 0) {
    await untagQueue(queue, gone)
  }
  if (Object.keys(added).length > 0) {
    await tagQueue(queue, added)
  }
}

interface FieldsProps {
  form: Form
  set: (some: Partial<Form>) => void
  leave: (field: keyof Form) => void
}

function FifoFields({ form, set }: Omit<FieldsProps, 'leave'>) {
  const high = form.dedupScope === 'messageGroup' && form.throughput === 'perMessageGroupId'
  return (
    <SpaceBetween size="s">
      <Checkbox
        checked={form.contentDedup}
        onChange={({ detail }) => set({ contentDedup: detail.checked })}
        description="Messages with the same body within 5 minutes count as one message. Senders need no deduplication ID."
      >
        Enable content-based deduplication
      </Checkbox>
      <Checkbox
        checked={high}
        onChange={({ detail }) =>
          set(
            detail.checked
              ? { dedupScope: 'messageGroup', throughput: 'perMessageGroupId' }
              : { dedupScope: 'queue', throughput: 'perQueue' },
          )
        }
        description="Deduplication applies within each message group, so that the groups are independent."
      >
        Enable high throughput FIFO
      </Checkbox>
      <ColumnLayout columns={2}>
        <FormField label="Deduplication scope">
          <RadioGroup
            value={form.dedupScope}
            onChange={({ detail }) =>
              set({
                dedupScope: detail.value as Form['dedupScope'],
                ...(detail.value === 'queue' && { throughput: 'perQueue' as const }),
              })
            }
            items={[
              { value: 'queue', label: 'Queue' },
              { value: 'messageGroup', label: 'Message group' },
            ]}
          />
        </FormField>
        <FormField label="FIFO throughput limit">
          <RadioGroup
            value={form.throughput}
            onChange={({ detail }) =>
              set({
                throughput: detail.value as Form['throughput'],
                ...(detail.value === 'perMessageGroupId' && { dedupScope: 'messageGroup' as const }),
              })
            }
            items={[
              { value: 'perQueue', label: 'Per queue' },
              { value: 'perMessageGroupId', label: 'Per message group ID' },
            ]}
          />
        </FormField>
      </ColumnLayout>
    </SpaceBetween>
  )
}

function EncryptionFields({ form, set, leave, error }: FieldsProps & { error: string | undefined }) {
  return (
    <SpaceBetween size="m">
      <RadioGroup
        value={form.encryption}
        ariaLabel="Encryption"
        onChange={({ detail }) => set({ encryption: detail.value as Form['encryption'] })}
        items={[
          { value: 'sqs', label: 'Amazon SQS key (SSE-SQS)' },
          { value: 'kms', label: 'AWS Key Management Service key (SSE-KMS)' },
          { value: 'none', label: 'Disabled' },
        ]}
      />
      <Box color="text-body-secondary" fontSize="body-s">
        Sluice stores these settings for programs that read them. They do not encrypt the data on the server's disk.
      </Box>
      {form.encryption === 'kms' && (
        <ColumnLayout columns={2}>
          <FormField label="Key">
            <Input value={form.kmsKey} onChange={({ detail }) => set({ kmsKey: detail.value })} spellcheck={false} />
          </FormField>
          <FormField label="Data key reuse period" constraintText="From 1 minute to 24 hours." errorText={error}>
            <AmountInput
              label="Data key reuse period"
              amount={form.kmsReuse}
              units={times.slice(0, 3)}
              change={(kmsReuse) => set({ kmsReuse })}
              left={() => leave('kmsReuse')}
            />
          </FormField>
        </ColumnLayout>
      )}
    </SpaceBetween>
  )
}

function DeadLetterFields({
  form,
  set,
  leave,
  error,
  name,
  taken,
}: FieldsProps & { error: (field: keyof Form) => string | undefined; name: string; taken: string | undefined }) {
  const visible = number(form.visibility) === 0
  return (
    <SpaceBetween size="m">
      <RadioGroup
        value={form.redrive ? 'yes' : 'no'}
        ariaLabel="Dead-letter queue"
        onChange={({ detail }) => set({ redrive: detail.value === 'yes' })}
        items={[
          { value: 'no', label: 'Disabled' },
          { value: 'yes', label: 'Enabled', description: 'Use a redrive policy.' },
        ]}
      />
      {form.redrive && (
        <ColumnLayout columns={2}>
          <SpaceBetween size="m">
            <FormField errorText={form.createDeadLetterQueue && taken}>
              <RadioGroup
                value={form.createDeadLetterQueue ? 'new' : 'old'}
                ariaLabel="Which dead-letter queue"
                onChange={({ detail }) => set({ createDeadLetterQueue: detail.value === 'new' })}
                items={[
                  {
                    value: 'new',
                    label: `Create ${name ? deadLetterName({ ...form, createDeadLetterQueue: true }) : 'one now'}`,
                    description: 'It keeps messages for 14 days.',
                  },
                  { value: 'old', label: 'Choose a queue' },
                ]}
              />
            </FormField>
            {!form.createDeadLetterQueue && (
              <FormField label="Dead-letter queue" errorText={error('deadLetterQueue')}>
                <QueueField
                  value={form.deadLetterQueue}
                  change={(deadLetterQueue) => set({ deadLetterQueue })}
                  only={(q) => q.Fifo === form.fifo && q.QueueName !== name}
                />
              </FormField>
            )}
          </SpaceBetween>
          <FormField label="Maximum receives" constraintText="From 1 to 1,000." errorText={error('maxReceives')}>
            <Input
              value={form.maxReceives}
              type="number"
              inputMode="numeric"
              onChange={({ detail }) => set({ maxReceives: detail.value })}
              onBlur={() => leave('maxReceives')}
            />
          </FormField>
        </ColumnLayout>
      )}
      {form.redrive && visible && (
        <Alert type="warning">
          With a visibility timeout of 0, consumers can receive a message again at once. It soon reaches the maximum.
        </Alert>
      )}
    </SpaceBetween>
  )
}

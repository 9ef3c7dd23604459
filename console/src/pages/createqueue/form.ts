import { type Attributes, redriveOf } from '../../api/attributes'
import { nameOf } from '../../api/queues'
import type { Amount } from '../../data/amount'
import { jsonError, object, pretty } from '../../data/json'
import { withSuffix, wrongQueueName } from '../../data/names'
import { record, type Tag } from '../../data/tags'

/** Form is what a person has filled in. */
export interface Form {
  fifo: boolean
  name: string
  visibility: Amount
  retention: Amount
  delay: Amount
  size: Amount
  wait: Amount
  contentDedup: boolean
  dedupScope: 'queue' | 'messageGroup'
  throughput: 'perQueue' | 'perMessageGroupId'
  encryption: 'none' | 'sqs' | 'kms'
  kmsKey: string
  kmsReuse: Amount
  redrive: boolean
  deadLetterQueue: string
  createDeadLetterQueue: boolean
  maxReceives: string
  redriveAllow: 'allowAll' | 'byQueue' | 'denyAll'
  sources: string
  policy: string
  tags: Tag[]
}

const lengths: Record<string, number> = { seconds: 1, minutes: 60, hours: 3600, days: 86400, bytes: 1, KiB: 1024 }

/** number returns an amount in seconds or bytes, NaN if it is none. */
export function number(a: Amount): number {
  return a.value.trim() === '' ? Number.NaN : Number(a.value) * (lengths[a.unit] ?? 1)
}

/** amount writes seconds or bytes in the largest unit that keeps it whole. */
export function amount(n: number, units: string[]): Amount {
  const unit = units.toReversed().find((u) => n > 0 && n % (lengths[u] ?? 1) === 0) ?? units[0] ?? 'seconds'
  return { value: String(n / (lengths[unit] ?? 1)), unit }
}

export const times = ['seconds', 'minutes', 'hours', 'days']
export const sizes = ['bytes', 'KiB']

/** Setting is one of the numbers that a queue has, with its bounds. */
export interface Setting {
  field: 'visibility' | 'retention' | 'delay' | 'size' | 'wait'
  attribute: string
  label: string
  hint: string
  units: string[]
  least: number
  most: number
}

/** settings are the numbers that a queue has, in the order of the guide's form. */
export const settings: Setting[] = [
  {
    field: 'visibility',
    attribute: 'VisibilityTimeout',
    label: 'Default visibility timeout',
    hint: 'How long a received message is hidden from other consumers. From 0 seconds to 12 hours.',
    units: times.slice(0, 3),
    least: 0,
    most: 43200,
  },
  {
    field: 'retention',
    attribute: 'MessageRetentionPeriod',
    label: 'Message retention period',
    hint: 'How long the queue keeps a message that is not deleted. From 1 minute to 14 days.',
    units: times,
    least: 60,
    most: 1209600,
  },
  {
    field: 'delay',
    attribute: 'DelaySeconds',
    label: 'Delivery delay',
    hint: 'How long a new message is hidden at first. From 0 seconds to 15 minutes.',
    units: times.slice(0, 2),
    least: 0,
    most: 900,
  },
  {
    field: 'size',
    attribute: 'MaximumMessageSize',
    label: 'Maximum message size',
    hint: 'Of the body and the attributes together. From 1 KiB to 1,024 KiB.',
    units: sizes,
    least: 1024,
    most: 1048576,
  },
  {
    field: 'wait',
    attribute: 'ReceiveMessageWaitTimeSeconds',
    label: 'Receive message wait time',
    hint: 'How long a receive without a wait time of its own waits for a message (long polling). From 0 to 20 seconds.',
    units: times.slice(0, 1),
    least: 0,
    most: 20,
  },
]

/** fresh is the form of a queue that does not exist yet, with SQS's defaults. */
export function fresh(): Form {
  return {
    fifo: false,
    name: '',
    visibility: { value: '30', unit: 'seconds' },
    retention: { value: '4', unit: 'days' },
    delay: { value: '0', unit: 'seconds' },
    size: { value: '256', unit: 'KiB' },
    wait: { value: '0', unit: 'seconds' },
    contentDedup: false,
    dedupScope: 'queue',
    throughput: 'perQueue',
    encryption: 'sqs',
    kmsKey: 'alias/aws/sqs',
    kmsReuse: { value: '5', unit: 'minutes' },
    redrive: false,
    deadLetterQueue: '',
    createDeadLetterQueue: true,
    maxReceives: '10',
    redriveAllow: 'allowAll',
    sources: '',
    policy: '',
    tags: [],
  }
}

/** formOf is the form of a queue that exists. */
export function formOf(name: string, a: Attributes, tags: Record<string, string>): Form {
  const form = fresh()
  const redrive = redriveOf(a)
  const allow = object(a.RedriveAllowPolicy)
  for (const s of settings) {
    const value = a[s.attribute]
    if (value !== undefined) {
      form[s.field] = amount(Number(value), s.units)
    }
  }
  return {
    ...form,
    name,
    fifo: a.FifoQueue === 'true',
    contentDedup: a.ContentBasedDeduplication === 'true',
    dedupScope: a.DeduplicationScope === 'messageGroup' ? 'messageGroup' : 'queue',
    throughput: a.FifoThroughputLimit === 'perMessageGroupId' ? 'perMessageGroupId' : 'perQueue',
    encryption: a.KmsMasterKeyId ? 'kms' : a.SqsManagedSseEnabled === 'true' ? 'sqs' : 'none',
    kmsKey: a.KmsMasterKeyId ?? form.kmsKey,
    kmsReuse: amount(Number(a.KmsDataKeyReusePeriodSeconds ?? 300), times.slice(0, 3)),
    redrive: redrive !== undefined,
    deadLetterQueue: redrive ? nameOf(redrive.deadLetterTargetArn) : '',
    createDeadLetterQueue: false,
    maxReceives: String(redrive?.maxReceiveCount ?? 10),
    redriveAllow: (allow?.redrivePermission as Form['redriveAllow'] | undefined) ?? 'allowAll',
    sources: Array.isArray(allow?.sourceQueueArns) ? allow.sourceQueueArns.join('\n') : '',
    policy: a.Policy ? pretty(a.Policy) : '',
    tags: Object.entries(tags)
      .sort(([x], [y]) => (x < y ? -1 : 1))
      .map(([key, value]) => ({ key, value })),
  }
}

/** fullName is the name with the suffix that FIFO queues must have. */
export function fullName(form: Form): string {
  return withSuffix(form.name, form.fifo)
}

/** deadLetterName is the name of the dead-letter queue: the one that was chosen, or one that is to be made. */
export function deadLetterName(form: Form): string {
  if (!form.createDeadLetterQueue) {
    return form.deadLetterQueue
  }
  const base = fullName(form).replace(/\.fifo$/, '')
  return form.fifo ? `${base}-dead.fifo` : `${base}-dead`
}

/** Errors are what is wrong with a form, by its fields. */
export type Errors = Partial<Record<keyof Form, string>>

/** check says what is wrong before the server has to. The server reports the rest. */
export function check(form: Form): Errors {
  const errors: Errors = {}
  const wrongName = wrongQueueName(form.name, form.fifo) ?? wrongDeadLetterName(form)
  if (wrongName) {
    errors.name = wrongName
  }
  for (const s of settings) {
    const n = number(form[s.field])
    if (!Number.isInteger(n) || n < s.least || n > s.most) {
      errors[s.field] = s.hint.replace(/^.*(?=From)/, 'It must be a whole number. ')
    }
  }
  if (form.redrive) {
    const n = Number(form.maxReceives)
    if (!Number.isInteger(n) || n < 1 || n > 1000) {
      errors.maxReceives = 'From 1 to 1,000.'
    }
    if (deadLetterName(form) === '') {
      errors.deadLetterQueue = 'Choose a dead-letter queue.'
    }
  }
  if (form.redriveAllow === 'byQueue' && (arns(form).length < 1 || arns(form).length > 10)) {
    errors.sources = 'Between 1 and 10 ARNs, one a line.'
  }
  const reuse = number(form.kmsReuse)
  if (form.encryption === 'kms' && (!Number.isInteger(reuse) || reuse < 60 || reuse > 86400)) {
    errors.kmsReuse = 'From 1 minute to 24 hours.'
  }
  const wrong = form.policy.trim() && jsonError(form.policy)
  if (wrong) {
    errors.policy = wrong
  }
  return errors
}

/** wrongDeadLetterName says that the dead-letter queue that is made cannot be called after the queue. */
function wrongDeadLetterName(form: Form): string | undefined {
  const name = deadLetterName(form)
  const long = form.redrive && form.createDeadLetterQueue && wrongQueueName(name, form.fifo)
  return long ? `The dead-letter queue ${name} would have more than 80 characters in its name.` : undefined
}

function arns(form: Form): string[] {
  return form.sources.split(/[\s,]+/).filter(Boolean)
}

/** attributesOf makes the attributes of a form, with the ARN of the dead-letter queue. */
export function attributesOf(form: Form, deadLetterArn: string): Record<string, string> {
  const a: Record<string, string> = {}
  for (const s of settings) {
    a[s.attribute] = String(number(form[s.field]))
  }
  if (form.fifo) {
    a.FifoQueue = 'true'
    a.ContentBasedDeduplication = String(form.contentDedup)
    a.DeduplicationScope = form.dedupScope
    a.FifoThroughputLimit = form.throughput
  }
  a.KmsMasterKeyId = form.encryption === 'kms' ? form.kmsKey : ''
  if (form.encryption === 'kms') {
    a.KmsDataKeyReusePeriodSeconds = String(number(form.kmsReuse))
  } else {
    a.SqsManagedSseEnabled = String(form.encryption === 'sqs')
  }
  a.RedrivePolicy = form.redrive
    ? JSON.stringify({ deadLetterTargetArn: deadLetterArn, maxReceiveCount: Number(form.maxReceives) })
    : ''
  a.RedriveAllowPolicy =
    form.redriveAllow === 'allowAll'
      ? ''
      : JSON.stringify({
          redrivePermission: form.redriveAllow,
          ...(form.redriveAllow === 'byQueue' && { sourceQueueArns: arns(form) }),
        })
  a.Policy = form.policy.trim() ? JSON.stringify(JSON.parse(form.policy)) : ''
  return a
}

/** difference returns the attributes that are not as they were. Type cannot change. */
export function difference(before: Record<string, string>, after: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => name !== 'FifoQueue' && (before[name] ?? '') !== value),
  )
}

/** creation returns what CreateQueue is given: nothing that is empty. */
export function creation(form: Form, deadLetterArn: string) {
  const attributes = Object.entries(attributesOf(form, deadLetterArn)).filter(([, value]) => value !== '')
  return { name: fullName(form), attributes: Object.fromEntries(attributes), tags: record(form.tags) }
}

import { object } from './json'

/** Made is a queue as the languages below make it. */
export interface Made {
  name: string
  attributes: Record<string, string>
  tags: Record<string, string>
}

/** languages are the forms in which a queue can be copied out of the console. */
export const languages = [
  { id: 'cli', text: 'AWS CLI', write: cli },
  { id: 'go', text: 'Go', write: go },
  { id: 'python', text: 'Python', write: python },
  { id: 'terraform', text: 'Terraform', write: terraform },
  { id: 'yaml', text: 'YAML (sluice apply)', write: yaml },
]

function cli({ name, attributes, tags }: Made): string {
  const lines = [`aws sqs create-queue --queue-name ${shell(name)}`]
  if (Object.keys(attributes).length > 0) {
    lines.push(`  --attributes ${shell(JSON.stringify(attributes))}`)
  }
  if (Object.keys(tags).length > 0) {
    lines.push(`  --tags ${shell(JSON.stringify(tags))}`)
  }
  return lines.join(' \\\n')
}

/** shell quotes a word for a shell. */
export function shell(text: string): string {
  return /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function go({ name, attributes, tags }: Made): string {
  const map = (m: Record<string, string>) =>
    Object.entries(m)
      .map(([k, v]) => `\t\t${quote(k)}: ${quote(v)},\n`)
      .join('')
  const tagged = Object.keys(tags).length > 0 ? `\n\tTags: map[string]string{\n${map(tags)}\t},` : ''
  return `queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{
\tQueueName: aws.String(${quote(name)}),
\tAttributes: map[string]string{
${map(attributes)}\t},${tagged}
})`
}

function python({ name, attributes, tags }: Made): string {
  const map = (m: Record<string, string>) =>
    Object.entries(m)
      .map(([k, v]) => `        ${quote(k)}: ${quote(v)},\n`)
      .join('')
  const tagged = Object.keys(tags).length > 0 ? `\n    tags={\n${map(tags)}    },` : ''
  return `queue = boto3.client("sqs").create_queue(
    QueueName=${quote(name)},
    Attributes={
${map(attributes)}    },${tagged}
)`
}

/** quote writes a string as JSON does, which is right in Go and Python, too: what neither knows is escaped. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const terraformNames: Record<string, string> = {
  VisibilityTimeout: 'visibility_timeout_seconds',
  MessageRetentionPeriod: 'message_retention_seconds',
  DelaySeconds: 'delay_seconds',
  MaximumMessageSize: 'max_message_size',
  ReceiveMessageWaitTimeSeconds: 'receive_wait_time_seconds',
  FifoQueue: 'fifo_queue',
  ContentBasedDeduplication: 'content_based_deduplication',
  DeduplicationScope: 'deduplication_scope',
  FifoThroughputLimit: 'fifo_throughput_limit',
  KmsMasterKeyId: 'kms_master_key_id',
  KmsDataKeyReusePeriodSeconds: 'kms_data_key_reuse_period_seconds',
  SqsManagedSseEnabled: 'sqs_managed_sse_enabled',
  RedrivePolicy: 'redrive_policy',
  RedriveAllowPolicy: 'redrive_allow_policy',
  Policy: 'policy',
}

function terraform({ name, attributes, tags }: Made): string {
  const string = (text: string) => JSON.stringify(text).replaceAll('${', '$${').replaceAll('%{', '%%{')
  const rows = Object.entries(attributes).map(([k, v]): [string, string] => [
    terraformNames[k] ?? k,
    /^(\d+|true|false)$/.test(v) ? v : string(v),
  ])
  const width = Math.max(4, ...rows.map(([k]) => k.length))
  const lines = [['name', string(name)] as [string, string], ...rows].map(([k, v]) => `  ${k.padEnd(width)} = ${v}`)
  const tagged = Object.entries(tags).map(([k, v]) => `    ${string(k)} = ${string(v)}\n`)
  const block = tagged.length > 0 ? `\n\n  tags = {\n${tagged.join('')}  }` : ''
  return `resource "aws_sqs_queue" "${identifier(name)}" {\n${lines.join('\n')}${block}\n}`
}

function identifier(name: string): string {
  return name
    .replace(/\.fifo$/, '')
    .replace(/\W/g, '_')
    .replace(/^(\d)/, '_$1')
}

const yamlNames: Record<string, string> = {
  VisibilityTimeout: 'visibility-timeout',
  MessageRetentionPeriod: 'retention',
  DelaySeconds: 'delay',
  MaximumMessageSize: 'max-message-size',
  ReceiveMessageWaitTimeSeconds: 'wait',
  ContentBasedDeduplication: 'content-based-deduplication',
  DeduplicationScope: 'deduplication-scope',
  FifoThroughputLimit: 'throughput-limit',
  KmsMasterKeyId: 'kms-key',
  KmsDataKeyReusePeriodSeconds: 'kms-key-reuse',
  SqsManagedSseEnabled: 'managed-encryption',
  Policy: 'policy',
}

/** yaml writes a file for sluice apply. JSON is YAML, too. */
function yaml({ name, attributes, tags }: Made): string {
  const lines: string[] = []
  for (const [k, v] of Object.entries(attributes)) {
    const known = yamlNames[k]
    if (known) {
      lines.push(`    ${known}: ${/^(\d+|true|false)$/.test(v) || v.startsWith('{') ? v : JSON.stringify(v)}`)
    }
  }
  const redrive = object(attributes.RedrivePolicy)
  if (redrive) {
    const target = String(redrive.deadLetterTargetArn).replace(/^.*:/, '')
    lines.push(`    dead-letters: {queue: ${JSON.stringify(target)}, max-receives: ${Number(redrive.maxReceiveCount)}}`)
  }
  const allow = object(attributes.RedriveAllowPolicy)
  if (allow) {
    lines.push(`    redrive-allow: ${JSON.stringify(allow.sourceQueueArns ?? allow.redrivePermission)}`)
  }
  if (Object.keys(tags).length > 0) {
    lines.push(`    tags: ${JSON.stringify(tags)}`)
  }
  return [`name: ${name.replace(/\.fifo$/, '')}`, 'queues:', `  ${JSON.stringify(name)}:`, ...lines].join('\n')
}

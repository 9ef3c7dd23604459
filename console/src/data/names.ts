// Rules for names, in the words that the server refuses others with, where it has words for them.

const suffix = '.fifo'

/** withSuffix is a name with the suffix that names of FIFO queues and topics must have. */
export const withSuffix = (name: string, fifo: boolean) => (fifo && !name.endsWith(suffix) ? `${name}${suffix}` : name)

/** plain reports whether a name has letters, digits, hyphens and underscores, and so many with its suffix at most. */
function plain(name: string, fifo: boolean, most: number): boolean {
  const whole = withSuffix(name, fifo)
  return whole.length <= most && /^[\w-]+$/.test(fifo ? whole.slice(0, -suffix.length) : whole)
}

/** wrongQueueName says what is wrong with the name of a new queue. A FIFO queue's may lack its suffix. */
export function wrongQueueName(name: string, fifo: boolean): string | undefined {
  if (name.trim() === '') {
    return 'A queue needs a name.'
  }
  if (!fifo && name.endsWith(suffix)) {
    return 'Only the names of FIFO queues end in .fifo.'
  }
  if (plain(name, fifo, 80)) {
    return undefined
  }
  return fifo
    ? 'The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.'
    : 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length'
}

/** wrongTopicName says what is wrong with the name of a new topic. A FIFO topic's may lack its suffix. */
export function wrongTopicName(name: string, fifo = false): string | undefined {
  if (name.trim() === '') {
    return 'A topic needs a name.'
  }
  if (!fifo && name.endsWith(suffix)) {
    return 'Only the names of FIFO topics end in .fifo.'
  }
  const rule =
    'must be made up of only uppercase and lowercase ASCII letters, numbers, underscores, and hyphens, and must be between 1 and 256 characters long.'
  if (plain(name, fifo, 256)) {
    return undefined
  }
  return fifo ? `Fifo Topic names must end with .fifo and ${rule}` : `Names ${rule}`
}

/** wrongAlarmName says what is wrong with the name of an alarm. */
export function wrongAlarmName(name: string): string | undefined {
  if (name.trim() === '') {
    return 'An alarm needs a name.'
  }
  return name.length > 255 ? 'The name of an alarm has at most 255 characters.' : undefined
}

/** Named is an IAM entity: the parameter with its name, and the maximum length of the name. */
export interface Named {
  parameter: string
  most: number
}

export const named = {
  user: { parameter: 'userName', most: 64 },
  group: { parameter: 'groupName', most: 128 },
  role: { parameter: 'roleName', most: 64 },
  policy: { parameter: 'policyName', most: 128 },
} satisfies Record<string, Named>

/** wrongIdentityName says what is wrong with the name of a user, a group, a role or a policy. */
export function wrongIdentityName(name: string, { parameter, most }: Named): string | undefined {
  if (!/^[\w+=,.@-]+$/.test(name)) {
    return `The specified value for ${parameter} is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-`
  }
  return name.length > most ? `The name has at most ${most} characters.` : undefined
}

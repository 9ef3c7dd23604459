/** Part is a word of a key. */
type Part = string | number | boolean | undefined

const key = <const P extends readonly Part[]>(...parts: P) => parts

/**
 * keys are under what the answers of the server are remembered: one line for each that something else than its own query names.
 * To invalidate a key invalidates all that begin with it.
 */
export const keys = {
  everything: key(),

  // Queues
  queueState: (queue: string) => key('DescribeQueueState', queue),
  attributes: (queue: string) => key('GetQueueAttributes', queue),
  queueTags: (queue: string) => key('ListQueueTags', queue),
  access: (queues: string[]) => key('CheckAccess', ...queues),
  creating: (queues: string[]) => key('CheckAccess', 'to create', ...queues),
  taken: (name: string) => key('ListQueueStates', 'taken', name),
  consumers: (queue: string) => key('ListConsumers', queue),
  messageGroups: (queue: string) => key('ListMessageGroups', queue),
  tasks: (queue: string) => key('ListRedriveTasks', queue),

  // Topics
  topics: key('ListTopics'),
  topic: (arn: string | undefined) => key('GetTopicAttributes', arn),
  everyTopic: key('GetTopicAttributes'),
  topicTags: (arn: string | undefined) => key('ListTagsForResource', arn),
  subscriptions: key('ListSubscriptions'),
  subscription: (arn: string | undefined) => key('GetSubscriptionAttributes', arn),

  // Alarms
  alarms: key('DescribeAlarms'),
  firing: key('DescribeAlarms', 'firing'),
  marks: key('marks'),
  alarmHistory: (name: string) => key('DescribeAlarmHistory', name),

  // IAM
  iam: key('iam'),
  users: key('iam', 'users'),
  groups: key('iam', 'groups'),
  groupsOf: (user: string) => key('iam', 'groups', user),
  roles: key('iam', 'roles'),
  policies: key('iam', 'policies'),
  password: (user: string) => key('iam', 'password', user),
  inlinePolicies: (kind: string, name: string) => key('iam', 'inline', kind, name),

  // The server
  limits: key('ListLimits'),
  cluster: key('DescribeCluster'),
}

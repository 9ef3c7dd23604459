/** Attribute is a message attribute; BinaryValue is base64. */
export interface Attribute {
  DataType: string
  StringValue?: string
  BinaryValue?: string
}

/** Message is a message as a peek or a receive has shown it. */
export interface Message {
  MessageId: string
  State?: 'Visible' | 'InFlight' | 'Delayed'
  Size?: number
  SentTimestamp?: number
  ReceiveCount?: number
  FirstReceiveTimestamp?: number
  LastReceiveTimestamp?: number
  InvisibleUntil?: number
  SenderId?: string
  SequenceNumber?: string
  MessageGroupId?: string
  MessageDeduplicationId?: string
  AWSTraceHeader?: string
  DeadLetterQueueSourceArn?: string
  MessageAttributes?: Record<string, Attribute>
  MD5OfBody?: string
  MD5OfMessageAttributes?: string
  /** Unreadable says that the message cannot be decrypted: it has neither body nor attributes. */
  Unreadable?: boolean
  Body?: string
}

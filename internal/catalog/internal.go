package catalog

// Internal queues belong to topics and subscriptions. The engine serves them as it does any
// other queue, but no account owns them, so that no name, ARN or URL of the SQS API means
// one. A topic or a subscription and its queue are made and deleted in one change.

// TopicQueue returns the name of the queue of a FIFO topic: it remembers the topic's
// deduplication ids and counts its sequence numbers, and holds no messages.
func TopicQueue(topic string) Name { return Name{Queue: "topic/" + topic} }

// SubscriptionQueue returns the name of the queue that holds the messages of a subscription
// until they are delivered to its endpoint.
func SubscriptionQueue(subscription string) Name { return Name{Queue: "subscription/" + subscription} }

// Internal reports whether the name is an internal queue's.
func (n Name) Internal() bool { return n.Account == "" }

package catalog

// Internal queues belong to topics and subscriptions. The engine serves them like any other queue, but no account owns
// them, so no name, ARN or URL of the SQS API can refer to one. A topic or a subscription and its queue are created and
// deleted in one change.

// TopicQueue returns the name of the queue of a FIFO topic. The queue keeps the topic's deduplication ids and sequence
// numbers, and holds no messages.
func TopicQueue(topic string) Name { return Name{Queue: "topic/" + topic} }

// SubscriptionQueue returns the name of the queue that holds the messages of a subscription until they are delivered
// to its endpoint.
func SubscriptionQueue(subscription string) Name { return Name{Queue: "subscription/" + subscription} }

// Internal reports whether the name belongs to an internal queue.
func (n Name) Internal() bool { return n.Account == "" }

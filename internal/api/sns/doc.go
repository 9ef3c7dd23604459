// Package sns implements the operations of Amazon SNS, API version 2010-03-31, which SDKs speak in the Query protocol
// only: topics, subscriptions, and publishing. A published message goes to all subscriptions of its topic whose filters
// accept it: to queues at once, in one transaction, and to other endpoints through package internal/topic/delivery.
//
// A publish has these steps, each in its own file:
//
//	message.go   the parameters are checked, in SNS's words
//	plan.go      which subscriptions get the message, and what each gets
//	publish.go   the engine takes all copies or none
//
// One object serves the operations of each noun (topics, subscriptions, confirmations, …) and has the state that they
// need, in addition to the core that all share.
//
// The topic's policy and IAM decide about access to a topic, as with queues. The queue's policy decides whether a topic
// may send to the queue, at each publish.
//
// The Amazon SNS API Reference and Developer Guide are the source of the facts. docs/sns.md lists the differences.
package sns

// Package sns implements the operations of Amazon SNS, API version 2010-03-31, which SDKs speak in the Query protocol
// only: topics, subscriptions, and publishing. A message that is published goes to the subscriptions of its topic that
// want it: into their queues at once, in one transaction with all others, and to other endpoints by what package
// internal/topic/delivery runs.
//
// A publish takes these steps, each in a file of its own:
//
//	message.go   the parameters are checked, in SNS's words
//	plan.go      which subscriptions get the message, and what each gets
//	publish.go   the engine takes all copies or none
//
// Who may do what with a topic is decided by the topic's policy and by IAM, as with queues. Whether a topic may send to a
// queue is decided by the queue's policy, at each publish.
//
// The facts are those of the Amazon SNS API Reference and Developer Guide. What differs is in docs/sns.md.
package sns

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
// An object serves the operations about each noun (topics, subscriptions, confirmations, …) and has the state that they
// need, besides the core that all share.
//
// The topic's policy and IAM decide who may do what with a topic, as with queues. The queue's policy decides whether a
// topic may send to the queue, at each publish.
//
// The Amazon SNS API Reference and Developer Guide are the source of the facts. docs/sns.md lists the differences.
package sns

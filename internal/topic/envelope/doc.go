// Package envelope writes the bodies that subscribers of a topic get: the JSON around a message, the requests to
// confirm a subscription, and the text that is signed.
//
// A signature covers the message and not the subscriber, so a publish needs one for all of them. It takes most of a
// millisecond of processor time, much more than the rest of a publish, so it is made only when the first subscriber
// needs it: never for raw deliveries, nor for FIFO topics, whose messages SNS does not sign.
//
// Sources: the Amazon SNS Developer Guide, "Parsing message formats", "Verifying the signatures of Amazon SNS
// messages".
package envelope

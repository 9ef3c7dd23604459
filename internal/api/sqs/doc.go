// Package sqs is the Amazon SQS service: its operations and their validation. It knows neither HTTP nor how messages
// are stored.
//
// An operation takes these steps, in this order:
//
//  1. It finds out which queue the request names (target.go), and refuses what no queue
//     could accept and policies must not see, such as a tag that is too long (tags.go).
//  2. It asks whether the caller may do that (access.go). Until then it says nothing
//     about the queue, not even whether the queue exists.
//  3. It checks its input whole. A request that is refused has changed nothing.
//  4. It asks the shard, or changes the queue's record (record.go).
//  5. It turns what the shard or the catalog refuses into SQS's own codes and words
//     (errors.go), and notes for the request log what it was about (notes.go).
//
// The rules and texts come from the developer guide of 2014 and the FIFO pages and, where these are silent, from the
// present service.
//
// # A new operation
//
// Declare its input, with a limit for every text and list, and its output. Write the handler in the file of similar
// ones, register it in service.go, and add its action to Rules in access.go. The tests list all operations and report
// what a new one lacks.
//
// # A new attribute
//
// Add a field to catalog.Attributes and a name to attributes.go; format and isAttribute there show it,
// attributeChange.set in attributechange.go checks and sets it. Attributes that exclude or need each other are checked
// in checkTogether.
package sqs

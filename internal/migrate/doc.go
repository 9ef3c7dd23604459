// Package migrate moves queues, topics and messages from one SQS endpoint to another.
//
// It guarantees:
//
//   - A message is deleted at the source only after the target has acknowledged it. A run that is
//     killed loses nothing. The next run moves what is left, and a message of a standard queue that
//     was sent but not yet deleted arrives twice.
//   - Messages of a FIFO queue keep the order of their group. Their deduplication id is the id that
//     the source gave them, so that the target drops a repeat within five minutes.
//   - Definitions are only created. A queue, topic or subscription that the target already has is not changed, and the
//     differences are reported.
//   - A message that the target refuses stays at the source, and so do the messages of its group behind it.
//
// The package calls operations of AWS only, so that the source can be any server that speaks SQS in JSON. Definitions
// pass through package declared: the target applies what the source exports. The ring decides which queue is next; it
// is pure. Workers take queues from the ring and move one batch at a time.
package migrate

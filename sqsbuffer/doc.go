// Package sqsbuffer is a client of Amazon SQS and compatible services that needs a tenth of the requests: it gathers
// calls into batches, and prefetches messages. It is the counterpart of Java's AmazonSQSBufferedAsyncClient, with the
// same settings. It wraps an [sqs.Client] and has its methods, so that a program changes one line:
//
//	client, err := sqsbuffer.New(sqs.NewFromConfig(cfg))
//
// It works with AWS and with any other endpoint of the wrapped client. It depends only on the AWS SDK for Go.
//
// # Calls in batches
//
// SendMessage, DeleteMessage and ChangeMessageVisibility return when the service has answered, as usual. Before that,
// they wait for calls of the same kind from other goroutines to the same queue: until there are ten, until the batch is
// full, or until the first has waited 200 ms. While the maximum number of batches is under way, calls keep waiting and
// fill the next ones. A program saves requests by making many calls concurrently.
//
// Each caller gets its own outcome. If an entry fails, only its caller gets an error, the typed error of the SDK. If
// the service has failed, and the plain client would retry, only that entry is retried. If a batch is refused as a
// whole because of one entry, it is halved until that entry is found. The MD5 digests of body and attributes are
// compared with the sent data, message by message ([ChecksumError]).
//
// A caller whose context ends returns at once. Its unsent message is dropped, which does not affect others; a request
// is canceled when all its callers have left. Requests carry no values of the callers' contexts.
//
// A FIFO queue gets its messages in the order of the calls, one batch after the other. A batch continues when its
// callers have left, because the service may still store it. Calls of different goroutines have no order;
// [Client.SendMessageAsync] lets one goroutine send in order and in batches. The Client does not retry messages for a
// FIFO queue, because later ones of the group may have been stored meanwhile.
//
// # Prefetched messages
//
// ReceiveMessage takes messages from a buffer. If there are none, it waits for its WaitTimeSeconds, or for
// LongPollWaitTimeoutSeconds if that is 0. Only calls fill the buffer: a call starts receives that continue until the
// buffer holds as many messages as callers took in about half a visibility timeout, until it reaches the limits of the
// settings, or until the queue is empty. When calls stop, so do the receives, except one under way. The client polls an
// empty queue with one long poll at a time, and one that keeps up with up to MaxInflightReceiveBatches.
//
// The buffer holds messages while they are invisible to others. It drops them when their visibility timeout ends,
// because others may receive them then. The client reads the queue's timeout with GetQueueAttributes once a minute,
// unless VisibilityTimeoutSeconds sets one; without permission for this call it prefetches nothing. A buffered message
// has used some of its timeout, so give the queue a visibility timeout with time to spare.
//
// These receives go to the wrapped client unchanged:
//   - receives from a FIFO queue, because a held message locks its group, and the next one of a group must not be
//     delivered before the last is deleted
//   - receives with a visibility timeout other than VisibilityTimeoutSeconds, or with a receive request attempt id
//   - receives with a WaitTimeSeconds if LongPoll is false
//   - all receives if MaxDoneReceiveBatches or MaxInflightReceiveBatches is 0
//
// So do calls of any kind with their own options. Different sets of attribute names have separate buffers.
//
// # A consumer
//
// [Client.Consume] receives messages, calls a function for each, keeps the messages hidden meanwhile, deletes them
// afterwards, and stops gracefully. It does not prefetch.
//
// # Large messages
//
// [LargeClient] sends bodies that are too large for SQS through an [ObjectStore], in the format of Amazon's extended
// clients for Java and Python.
//
// # Close
//
// [Client.Close] stops consumers, sends waiting calls, and makes buffered messages visible again.
package sqsbuffer

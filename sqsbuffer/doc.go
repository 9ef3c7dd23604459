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
// SendMessage, DeleteMessage and ChangeMessageVisibility return when the service has answered, as usual. Before, they
// wait for calls of their kind from other goroutines to the same queue: until there are ten, or the bytes of a full
// batch, or the first has waited 200 ms. While the maximum number of batches is under way, calls keep waiting and fill
// the next ones. A program saves requests by making many calls at the same time.
//
// Each caller gets its own outcome. If an entry fails, only its caller gets an error, the typed error of the SDK. If
// the service has failed, and the plain client would retry, only that entry is retried. If a batch is refused as a
// whole because of one entry, it is halved until that entry is found. The MD5 digests of body and attributes are
// compared with the sent data, message by message ([ChecksumError]).
//
// A caller whose context ends returns at once. A message that was not sent yet is not sent, which does not affect
// others; a request is cancelled when all its callers have left. Requests carry no values of the callers' contexts.
//
// A FIFO queue gets its messages in the order of the calls, one batch after the other. A batch goes on when its callers
// have left, because the service may still store it. Calls of different goroutines have no order;
// [Client.SendMessageAsync] lets one goroutine send in order and in batches. The Client does not retry messages for a
// FIFO queue, because later ones of the group may have been stored meanwhile.
//
// # Messages received ahead
//
// ReceiveMessage takes messages from a buffer, and waits if there are none: for
// WaitTimeSeconds, or if that is 0 for LongPollWaitTimeoutSeconds. Calls fill the buffer,
// nothing else does: a call starts receives that go on until as many messages are held as
// callers took during about half a visibility timeout, or the bounds of the settings are
// reached, or the queue is empty. When calls cease, so do the receives: one that is under way
// may still end. An empty queue is asked with one long poll at a time, one that keeps up with
// up to MaxInflightReceiveBatches.
//
// Messages are held while they are invisible to others. Once their visibility timeout has
// passed they are dropped, for others may have them. The timeout of the queue is asked for
// with GetQueueAttributes, once a minute, unless VisibilityTimeoutSeconds sets one; a
// program that may not make this call receives nothing ahead. A message that comes out
// of the buffer has been invisible for a while, so the queue needs a visibility timeout
// with time to spare.
//
// These receives go to the wrapped client as they are:
//   - of a FIFO queue, because a message that is held locks its group, and the next of a
//     group must not be given out before the last was deleted
//   - with a visibility timeout other than VisibilityTimeoutSeconds, or with a receive
//     request attempt id
//   - with a WaitTimeSeconds if LongPoll is false
//   - all, if MaxDoneReceiveBatches or MaxInflightReceiveBatches is 0
//
// So do calls of any kind with options for themselves. Different sets of attribute names have
// buffers of their own.
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
// # The end
//
// [Client.Close] stops consumers, sends waiting calls, and makes buffered messages visible again.
package sqsbuffer

// Package sqsbuffer is a client of Amazon SQS, and of what speaks its protocol, that needs
// a tenth of the requests: it gathers calls into batches, and receives messages before
// they are asked for. It is what AmazonSQSBufferedAsyncClient is for Java, with the same
// settings. It wraps an [sqs.Client] and has its methods, so that a program which has one
// changes a line:
//
//	client, err := sqsbuffer.New(sqs.NewFromConfig(cfg))
//
// It works with AWS and with any endpoint that the wrapped client is set to. It depends
// on the AWS SDK for Go only.
//
// # Calls in batches
//
// SendMessage, DeleteMessage and ChangeMessageVisibility return when the service has
// answered, as ever. Until then they wait for others of their kind, from other
// goroutines, to the same queue: until ten are there, or as many bytes as a batch may
// have, or the first has waited 200 ms. While as many batches are under way as may be, calls
// wait on and fill the next ones. A program saves calls by making many at the same time.
//
// Each caller gets its own outcome. An entry that fails fails its caller only, with the
// typed error of the SDK; what the plain client tries again, an error of the service's, is
// tried again alone. A batch that is refused as a whole for what one entry asks is halved
// until it is known which. The MD5 digests of body and attributes are compared with what
// was sent, message by message ([ChecksumError]).
//
// A caller whose context ends returns at once. If its message was not sent yet, it is not sent, and the others do not
// notice; a request is given up when all its callers have left. The requests themselves carry no values of the callers'
// contexts.
//
// A FIFO queue gets its messages in the order of the calls, one batch after the other.
// Calls of different goroutines have no order; [Client.SendMessageAsync] lets one goroutine
// send in order and in batches. A message for a FIFO queue is not tried again by the Client,
// because later ones of its group may have been stored meanwhile.
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
// [Client.Consume] does what a program with a queue does all day: receives, has a function
// work on each message, keeps messages hidden meanwhile, deletes what is done, and stops in
// order. It does not receive ahead.
//
// # Large messages
//
// [LargeClient] sends bodies that SQS does not take by way of an [ObjectStore], in the format
// of Amazon's extended clients for Java and Python.
//
// # The end
//
// [Client.Close] stops consumers, sends what waits and makes messages that were not taken visible again.
package sqsbuffer

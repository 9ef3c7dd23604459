package sqs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// The errors in SQS's model. Each has a shape, which JSON shows, and a code, which Query shows and which is often
// another word.
const codePrefix = "AWS.SimpleQueueService."

func errNoQueue() *protocol.Error {
	e := service.Modelled("QueueDoesNotExist", codePrefix+"NonExistentQueue", 400,
		"The specified queue does not exist.")
	e.QueryMessage = "The specified queue does not exist for this wsdl version."
	e.Absent = true
	return e
}

// errNoQueueOrAccess is errNoQueue for a caller of another account.
func errNoQueueOrAccess() *protocol.Error {
	e := service.Modelled("QueueDoesNotExist", codePrefix+"NonExistentQueue", 400,
		"The specified queue does not exist or you do not have access to it.")
	e.Absent = true
	return e
}

// errAddress refuses the URL of a queue in another region of Amazon's.
func errAddress(url string) *protocol.Error {
	return service.Modelled("InvalidAddress", "InvalidAddress", 404,
		"The address %s is not valid for this web service.", service.Shorten(url))
}

func errQueueExists(attribute string) *protocol.Error {
	return service.Modelled("QueueNameExists", "QueueAlreadyExists", 400,
		"A queue already exists with the same name and a different value for %s", attribute)
}

func errDeletedRecently() *protocol.Error {
	return service.Modelled("QueueDeletedRecently", codePrefix+"QueueDeletedRecently", 400,
		"You must wait 60 seconds after deleting a queue before you can create another with the same name.")
}

func errAttributeName(format string, args ...any) *protocol.Error {
	return service.Modelled("InvalidAttributeName", "InvalidAttributeName", 400, format, args...)
}

func errUnknownAttribute(name string) *protocol.Error {
	return errAttributeName("Unknown Attribute %s.", name)
}

func errAttributeValue(name, reason string) *protocol.Error {
	text := "Invalid value for the parameter " + name + "."
	if reason != "" {
		text += " Reason: " + reason
	}
	return service.Modelled("InvalidAttributeValue", "InvalidAttributeValue", 400, "%s", text)
}

func errMessageContents() *protocol.Error {
	return service.Modelled("InvalidMessageContents", "InvalidMessageContents", 400,
		"Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF")
}

func errReceiptHandle(handle string) *protocol.Error {
	return service.Modelled("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404,
		"The input receipt handle \"%s\" is not a valid receipt handle.", service.Shorten(handle))
}

func errOverLimit(format string, args ...any) *protocol.Error {
	return service.Modelled("OverLimit", "OverLimit", 403, format, args...)
}

// errThrottled refuses a request beyond a rate, or beyond a number of simultaneous requests. Clients repeat it by
// themselves.
func errThrottled() *protocol.Error {
	e := service.Modelled("RequestThrottled", "RequestThrottled", 403, "Request is throttled.")
	e.Final = true
	return e
}

func errTooManyQueues(most int64) *protocol.Error {
	return errOverLimit("The account has as many queues as this server allows, %d. Delete a queue before you create another.", most)
}

func errPurgeInProgress(name string) *protocol.Error {
	return service.Modelled("PurgeQueueInProgress", codePrefix+"PurgeQueueInProgress", 403,
		"Only one PurgeQueue operation on %s is allowed every 60 seconds.", name)
}

func errUnsupported(format string, args ...any) *protocol.Error {
	return service.Modelled("UnsupportedOperation", codePrefix+"UnsupportedOperation", 400, format, args...)
}

func errResourceNotFound(format string, args ...any) *protocol.Error {
	return service.Modelled("ResourceNotFoundException", "ResourceNotFoundException", 404, format, args...)
}

// errKey refuses to encrypt or decrypt under a key that cannot be used.
func errKey(e service.KeyError) *protocol.Error {
	shape := "Kms" + e.Kind
	if e.Kind == "Throttling" {
		shape = "KmsThrottled"
	}
	return service.Modelled(shape, "KMS."+e.Kind+"Exception", 400, "%s", e.Text)
}

// defaultKey is the name of the key that AWS manages for SQS.
const defaultKey = "alias/aws/sqs"

// keyName returns the name of a queue's key for people.
func keyName(q *catalog.Queue) string {
	if q == nil {
		return defaultKey
	}
	return service.Shorten(cmp.Or(q.Attributes.KMSKey, defaultKey))
}

// errNoKeyOfMessage refuses a receive of messages that were all encrypted under keys that the server does not have.
func errNoKeyOfMessage() *protocol.Error {
	return service.Modelled("KmsNotFound", "KMS.NotFoundException", 400, "The key that the message was encrypted under does not exist.")
}

func errEmptyBatch(entryType string) *protocol.Error {
	return service.Modelled("EmptyBatchRequest", codePrefix+"EmptyBatchRequest", 400,
		"There should be at least one %s in the request.", entryType)
}

func errTooManyEntries(n int) *protocol.Error {
	return service.Modelled("TooManyEntriesInBatchRequest", codePrefix+"TooManyEntriesInBatchRequest", 400,
		"Maximum number of entries per request are %d. You have sent %d.", maxBatchEntries, n)
}

func errEntryID() *protocol.Error {
	return service.Modelled("InvalidBatchEntryId", codePrefix+"InvalidBatchEntryId", 400,
		"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
}

func errEntryIDRepeated(id string) *protocol.Error {
	return service.Modelled("BatchEntryIdsNotDistinct", codePrefix+"BatchEntryIdsNotDistinct", 400,
		"Id %s repeated.", id)
}

func errBatchTooLong(limit, size int) *protocol.Error {
	return service.Modelled("BatchRequestTooLong", codePrefix+"BatchRequestTooLong", 400,
		"Batch requests cannot be longer than %d bytes. You have sent %d bytes.", limit, size)
}

// errEmptyValue exists for entries of a batch only.
func errEmptyValue(format string, args ...any) *protocol.Error {
	return service.Modelled("EmptyValue", "EmptyValue", 400, format, args...)
}

// errValue refuses the value of a parameter in SQS's usual words.
func errValue(value any, parameter, reason string) *protocol.Error {
	return protocol.InvalidParameterValue("Value %s for parameter %s is invalid. Reason: %s",
		service.Shorten(fmt.Sprint(value)), parameter, reason)
}

// errTooLong refuses a parameter that is longer than its declaration allows. SQS's own limits, which are lower or
// equal, are checked later and have their own errors.
func errTooLong(e *protocol.Excess) *protocol.Error {
	switch member := strings.ToLower(e.Member); {
	case strings.HasSuffix(member, "receipthandle"):
		return errReceiptHandle(e.Value)
	case strings.HasPrefix(member, "tag") && e.Unit == protocol.Entries:
		return protocol.InvalidParameterValue("Too many tags.")
	case strings.HasPrefix(member, "tags.value"):
		return errTagValueLength()
	case strings.HasPrefix(member, "tag"):
		return errTagKeyLength()
	}
	return protocol.InvalidParameterValue(
		"Value %s for parameter %s is invalid. Reason: %s", e.Value, e.Member, e.Constraint(),
	)
}

// failure translates an error of the shard or the catalog into the client's answer. It is
// for errors that are not about one message in particular.
func failure(err error, q *catalog.Queue) error {
	if errors.Is(err, encryption.ErrUnreadable) && errors.Is(err, keyring.ErrNoKey) {
		return errors.Join(errNoKeyOfMessage(), err)
	}
	if e, ok := service.OfKey(err, keyName(q)); ok {
		return errors.Join(errKey(e), err)
	}
	switch {
	case errors.Is(err, queue.ErrNoQueue), errors.Is(err, catalog.ErrNotFound):
		return errNoQueue()
	case errors.Is(err, queue.ErrOverLimit):
		return errOverLimit(
			"Too many messages have been received without being deleted.\nPlease delete your received messages or let them timeout before receiving more.",
		)
	case errors.Is(err, queue.ErrPurgeInProgress):
		return errPurgeInProgress(q.Name.Queue)
	case errors.Is(err, queue.ErrSealed):
		return service.Sealed(err)
	case errors.Is(err, queue.ErrTooLong):
		return protocol.InvalidParameterValue("The request is too large to be carried out.")
	case service.OfTheDisk(err):
		return service.Failure(err)
	case errors.Is(err, shard.ErrUnavailable), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return errors.Join(protocol.ServiceUnavailable(), err)
	}
	return err
}

const notAvailable = "Message does not exist or is not available for visibility timeout change."

// entryFailure is receiptFailure for an entry of a batch, where a missing message has another code.
func entryFailure(err error, handle string, timeout int) *protocol.Error {
	if errors.Is(err, queue.ErrNotReceived) {
		return service.Modelled("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404, notAvailable)
	}
	return receiptFailure(err, handle, timeout)
}

// receiptFailure translates why a receipt was refused, or why its shard was unavailable while other shards answered for
// other entries of the batch.
func receiptFailure(err error, handle string, timeout int) *protocol.Error {
	switch {
	case errors.Is(err, queue.ErrReceiptExpired):
		return errValue(handle, "ReceiptHandle", "The receipt handle has expired.")
	case errors.Is(err, queue.ErrNotReceived):
		return errValue(handle, "ReceiptHandle", notAvailable)
	case errors.Is(err, queue.ErrVisibilityTotal):
		return errValue(timeout, "VisibilityTimeout",
			"Total VisibilityTimeout for the message is beyond the limit [43200 seconds]")
	case errors.Is(err, shard.ErrUnavailable):
		return protocol.ServiceUnavailable()
	}
	return protocol.InternalError()
}

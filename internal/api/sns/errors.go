package sns

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/preferences"
)

// The errors in SNS's model.

// errParameter is SNS's error for nearly every mistake in a request.
func errParameter(format string, args ...any) *protocol.Error {
	return service.Modelled("InvalidParameterException", "InvalidParameter", 400, "Invalid parameter: "+format, args...)
}

// errPhone refuses a number that no phone can have, in a sentence without the prefix of the others.
func errPhone(number string) *protocol.Error {
	return service.Modelled(
		"InvalidParameterException", "InvalidParameter", 400, "Invalid SMS endpoint: %s", service.Shorten(number),
	)
}

// errSMS refuses an SMS attribute, in a sentence without the prefix of the others.
func errSMS(format string, args ...any) *protocol.Error {
	return service.Modelled("InvalidParameterException", "InvalidParameter", 400, format, args...)
}

// errAttribute refuses an invalid message attribute.
func errAttribute(format string, args ...any) *protocol.Error {
	return service.Modelled("InvalidParameterValueException", "ParameterValueInvalid", 400, format, args...)
}

func errNotFound(format string, args ...any) *protocol.Error {
	return service.Modelled("NotFoundException", "NotFound", 404, format, args...)
}

func errNoTopic() *protocol.Error { return errNotFound("Topic does not exist") }

func errNoSubscription() *protocol.Error { return errNotFound("Subscription does not exist") }

// errPending refuses to end a subscription that is not confirmed. Terraform recognizes the sentence.
func errPending() *protocol.Error {
	return errParameter(
		"SubscriptionArn Reason: Cannot unsubscribe a subscription that is pending confirmation",
	)
}

// saysGone reports whether err means that a topic or subscription does not exist.
func saysGone(err error) bool {
	e, ok := errors.AsType[*protocol.Error](err)
	return ok && e.Status == http.StatusNotFound
}

// errNoResource is errNoTopic of the operations on tags.
func errNoResource() *protocol.Error {
	return service.Modelled("ResourceNotFoundException", "ResourceNotFound", 404, "Resource does not exist")
}

func errTagLimit() *protocol.Error {
	return service.Modelled("TagLimitExceededException", "TagLimitExceeded", 400,
		"Could not complete request: tag quota of per resource exceeded")
}

func errTopicLimit(format string, args ...any) *protocol.Error {
	return service.Modelled("TopicLimitExceededException", "TopicLimitExceeded", 403, format, args...)
}

func errSubscriptionLimit(format string, args ...any) *protocol.Error {
	return service.Modelled("SubscriptionLimitExceededException", "SubscriptionLimitExceeded", 403, format, args...)
}

func errFilterLimit(format string, args ...any) *protocol.Error {
	return service.Modelled("FilterPolicyLimitExceededException", "FilterPolicyLimitExceeded", 403, format, args...)
}

// errArchived refuses to delete a topic whose messages are archived.
func errArchived() *protocol.Error {
	return service.Modelled("InvalidStateException", "InvalidState", 400,
		"Invalid state: Cannot delete a topic with an ArchivePolicy")
}

func errEmptyBatch() *protocol.Error {
	return service.Modelled(
		"EmptyBatchRequestException", "EmptyBatchRequest", 400, "The batch request doesn't contain any entries.",
	)
}

func errTooManyEntries() *protocol.Error {
	return service.Modelled("TooManyEntriesInBatchRequestException", "TooManyEntriesInBatchRequest", 400,
		"The batch request contains more entries than permissible.")
}

func errEntryID(format string, args ...any) *protocol.Error {
	return service.Modelled("InvalidBatchEntryIdException", "InvalidBatchEntryId", 400,
		"The Id of a batch entry in the batch request "+format, args...)
}

func errEntryIDRepeated() *protocol.Error {
	return service.Modelled("BatchEntryIdsNotDistinctException", "BatchEntryIdsNotDistinct", 400,
		"Two or more batch entries in the request have the same Id.")
}

func errBatchTooLong() *protocol.Error {
	return service.Modelled("BatchRequestTooLongException", "BatchRequestTooLong", 400,
		"The length of all the messages put together is more than the limit.")
}

// errToken refuses a token that cannot be one. Of SNS's refusals, it is the one without a beginning.
func errToken() *protocol.Error {
	return service.Modelled("InvalidParameterException", "InvalidParameter", 400, "Invalid token")
}

// errUnsupported refuses a feature of AWS that this server does not have. It names the parameter that requests the
// feature.
func errUnsupported(parameter, reason string) *protocol.Error {
	return errParameter("%s Reason: %s", parameter, reason)
}

// errKey refuses a publish to a topic whose key cannot be used.
func errKey(e service.KeyError) *protocol.Error {
	code := "KMS" + e.Kind
	return service.Modelled(code+"Exception", code, 400, "%s", e.Text)
}

// requireList checks that a request has a list, which has n entries. In the Query protocol an empty list is absent.
func requireList(v *protocol.Violations, member string, n int) {
	if n == 0 {
		v.Required(member, nil)
	}
}

// refusal is the error of a caller whom a policy has refused. SNS has its own name for it.
func refusal(err error) error {
	if denial, ok := errors.AsType[*access.Denial](err); ok {
		return errors.Join(
			service.Modelled("AuthorizationErrorException", "AuthorizationError", 403, "%s", denial.Error()), denial,
		)
	}
	return err
}

// errTooLong refuses a parameter that is longer than its declaration allows. SNS's own limits, which are lower or
// equal, are checked later and have their own errors.
func errTooLong(e *protocol.Excess) *protocol.Error {
	first, _, _ := strings.Cut(e.Member, ".")
	last := e.Member[strings.LastIndexByte(e.Member, '.')+1:]
	switch {
	case last == "Message":
		return errTooLongMessage()
	case last == "Subject":
		return errSubject()
	case first == "Tags" && e.Unit == protocol.Entries, first == "TagKeys" && e.Unit == protocol.Entries:
		return errTagLimit()
	case first == "PublishBatchRequestEntries" && e.Member == first:
		return errTooManyEntries()
	case first == "Tags", first == "TagKeys", first == "ResourceArn" && e.Max == maxTaggedARN:
		return protocol.TooLong(e)
	}
	return errParameter("%s Reason: %s", e.Member, e.Constraint())
}

// failure translates an error of the shards or of the control store into the client's error.
func failure(err error) error {
	if e, ok := service.OfKey(err, "of the topic"); ok {
		return errors.Join(errKey(e), err)
	}
	switch {
	case errors.Is(err, topic.ErrNoTopic), errors.Is(err, queue.ErrNoQueue):
		return errNoTopic()
	case errors.Is(err, topic.ErrNoSubscription):
		return errNoSubscription()
	case errors.Is(err, preferences.ErrTooManyRegions):
		return errParameter("attributes Reason: %s", preferences.ErrTooManyRegions)
	case errors.Is(err, queue.ErrTooLong):
		return errParameter("The request is too large to be carried out.")
	case errors.Is(err, shard.ErrUnavailable), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return errors.Join(protocol.ServiceUnavailable(), err)
	}
	return service.Failure(err)
}

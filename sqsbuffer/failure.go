package sqsbuffer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// ErrClosed is the error of calls after Close, and of calls that Close gave up.
var ErrClosed = errors.New("sqsbuffer: the client is closed")

// outcomes sorts the answer to a batch of n by the positions of the entries. Entries that the answer lacks have failed,
// too.
func outcomes[S, O any](
	operation string,
	n int,
	failed []types.BatchResultErrorEntry,
	successful []S,
	read func(S) (id *string, output *O),
) []outcome[O] {
	all := make([]outcome[O], n)
	fail := func(i int, err error) {
		all[i].err = &smithy.OperationError{ServiceID: "SQS", OperationName: operation, Err: err}
	}
	for i := range all {
		fail(i, fmt.Errorf("the answer to a batch of %d does not say what became of entry %d", n, i))
	}
	for _, entry := range failed {
		if i, ok := entryIndex(entry.Id, n); ok {
			fail(i, typed(entry))
			all[i].again = !entry.SenderFault
		}
	}
	for _, entry := range successful {
		id, output := read(entry)
		if i, ok := entryIndex(id, n); ok {
			all[i] = outcome[O]{output: output}
		}
	}
	return all
}

// entryID names an entry of a batch after its place.
func entryID(i int) *string {
	id := strconv.Itoa(i)
	return &id
}

// entryIndex returns the place of an entry among n.
func entryIndex(id *string, n int) (int, bool) {
	if id == nil {
		return 0, false
	}
	i, err := strconv.Atoi(*id)
	return i, err == nil && i >= 0 && i < n
}

// typed returns the SDK's error for the code of a failed entry.
func typed(entry types.BatchResultErrorEntry) error {
	code, message := entry.Code, entry.Message
	if code == nil {
		code = new(string)
	}
	switch strings.TrimPrefix(*code, "AWS.SimpleQueueService.") {
	case "InvalidAddress":
		return &types.InvalidAddress{Message: message, ErrorCodeOverride: code}
	case "InvalidIdFormat":
		return &types.InvalidIdFormat{ErrorCodeOverride: code}
	case "InvalidMessageContents":
		return &types.InvalidMessageContents{Message: message, ErrorCodeOverride: code}
	case "InvalidSecurity":
		return &types.InvalidSecurity{Message: message, ErrorCodeOverride: code}
	case "KmsAccessDenied", "KMS.AccessDeniedException":
		return &types.KmsAccessDenied{Message: message, ErrorCodeOverride: code}
	case "KmsDisabled", "KMS.DisabledException":
		return &types.KmsDisabled{Message: message, ErrorCodeOverride: code}
	case "KmsInvalidKeyUsage", "KMS.InvalidKeyUsageException":
		return &types.KmsInvalidKeyUsage{Message: message, ErrorCodeOverride: code}
	case "KmsInvalidState", "KMS.InvalidStateException":
		return &types.KmsInvalidState{Message: message, ErrorCodeOverride: code}
	case "KmsNotFound", "KMS.NotFoundException":
		return &types.KmsNotFound{Message: message, ErrorCodeOverride: code}
	case "KmsOptInRequired", "KMS.OptInRequired":
		return &types.KmsOptInRequired{Message: message, ErrorCodeOverride: code}
	case "KmsThrottled", "KMS.ThrottlingException":
		return &types.KmsThrottled{Message: message, ErrorCodeOverride: code}
	case "MessageNotInflight":
		return &types.MessageNotInflight{ErrorCodeOverride: code}
	case "OverLimit":
		return &types.OverLimit{Message: message, ErrorCodeOverride: code}
	case "QueueDoesNotExist", "NonExistentQueue":
		return &types.QueueDoesNotExist{Message: message, ErrorCodeOverride: code}
	case "ReceiptHandleIsInvalid":
		return &types.ReceiptHandleIsInvalid{Message: message, ErrorCodeOverride: code}
	case "RequestThrottled":
		return &types.RequestThrottled{Message: message, ErrorCodeOverride: code}
	case "UnsupportedOperation":
		return &types.UnsupportedOperation{Message: message, ErrorCodeOverride: code}
	}
	fault := smithy.FaultServer
	if entry.SenderFault {
		fault = smithy.FaultClient
	}
	text := ""
	if message != nil {
		text = *message
	}
	return &smithy.GenericAPIError{Code: *code, Message: text, Fault: fault}
}

// mayBeOfOne reports whether a single entry may have caused the refusal of a whole batch.
func mayBeOfOne(err error) bool {
	var refused smithy.APIError
	if !errors.As(err, &refused) {
		return false
	}
	code := strings.TrimPrefix(refused.ErrorCode(), "AWS.SimpleQueueService.")
	return slices.Contains([]string{
		"BatchRequestTooLong", "InvalidAttributeValue", "InvalidMessageContents", "InvalidParameterValue",
		"InvalidParameterValueException", "MissingParameter", "MissingRequiredParameterException",
		"UnsupportedOperation",
	}, code)
}

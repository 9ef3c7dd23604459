package apitest

import (
	"encoding/base64"
	"fmt"
)

// Refusal is the expected error of a request.
type Refusal struct {
	Shape        string // with its namespace
	Code         string
	Status       int
	Message      string
	QueryMessage string // if it differs
}

func Modelled(shape, code string, status int, message string) Refusal {
	return Refusal{Shape: "com.amazonaws.sqs#" + shape, Code: code, Status: status, Message: message}
}

func Generic(shape, code string, status int, message string) Refusal {
	return Refusal{Shape: "com.amazon.coral.service#" + shape, Code: code, Status: status, Message: message}
}

func Invalid(message string) Refusal {
	return Generic("InvalidParameterValueException", "InvalidParameterValue", 400, message)
}

func Missing(name string) Refusal {
	return Generic(
		"MissingRequiredParameterException", "MissingParameter", 400,
		"The request must contain the parameter "+name+".",
	)
}

func Denied(message string) Refusal {
	return Generic("AccessDeniedException", "AccessDenied", 403, message)
}

func AttributeName(message string) Refusal {
	return Modelled("InvalidAttributeName", "InvalidAttributeName", 400, message)
}

func AttributeValue(message string) Refusal {
	return Modelled("InvalidAttributeValue", "InvalidAttributeValue", 400, message)
}

func OverLimit(message string) Refusal { return Modelled("OverLimit", "OverLimit", 403, message) }

func ResourceNotFound(message string) Refusal {
	return Modelled("ResourceNotFoundException", "ResourceNotFoundException", 404, message)
}

func BatchRefusal(shape, message string) Refusal {
	return Modelled(shape, "AWS.SimpleQueueService."+shape, 400, message)
}

var NoQueue = Refusal{
	Shape: "com.amazonaws.sqs#QueueDoesNotExist", Code: "AWS.SimpleQueueService.NonExistentQueue", Status: 400,
	Message:      "The specified queue does not exist.",
	QueryMessage: "The specified queue does not exist for this wsdl version.",
}

// TaskHandle is the handle of a message move task as AWS makes them.
func TaskHandle(task, source string) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"taskId":"%s","sourceArn":"%s"}`, task, source))
}

// Allowing is a statement of a policy. condition is the text between the braces of the Condition element, which is
// omitted if it is empty.
func Allowing(principal, action, resource, condition string) string {
	if condition != "" {
		condition = `,"Condition":{` + condition + `}`
	}
	return fmt.Sprintf(`{"Effect":"Allow","Principal":{"AWS":%q},"Action":%q,"Resource":%q%s}`, principal, action, resource, condition)
}

// UnknownKey refuses an access key that does not exist, or a token that does not belong to it.
var UnknownKey = Generic(
	"UnrecognizedClientException",
	"InvalidClientTokenId",
	403,
	"The security token included in the request is invalid.",
)

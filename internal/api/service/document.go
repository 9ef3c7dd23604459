package service

import (
	"errors"
	"net/http"

	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// MalformedDocument refuses a policy document in the words of IAM and STS.
func MalformedDocument(format string, args ...any) *protocol.Error {
	return Modelled(
		"MalformedPolicyDocumentException", "MalformedPolicyDocument", http.StatusBadRequest, format, args...,
	)
}

// DocumentError explains to a client why package policy does not accept a document, in AWS's sentence. The request log
// has the position and the reason. tooLarge is the error for a document that is too large.
func DocumentError(err error, tooLarge *protocol.Error) *protocol.Error {
	e, ok := errors.AsType[*policy.Error](err)
	switch {
	case !ok:
		return protocol.InternalError()
	case e.Fault == policy.OverLimit:
		return tooLarge
	}
	refusal := MalformedDocument("%s", e.IAM())
	refusal.Detail = e.Error()
	return refusal
}

package sts

import (
	"context"
	"net/http"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type decodeMessageInput struct {
	EncodedMessage *string `max:"10240"`
}

type decodedMessageOutput struct{ DecodedMessage string }

// decodeAuthorizationMessage refuses every message: services here explain refusals in plain words, as SQS, SNS, IAM and
// CloudWatch do on AWS, and only AWS can decode the encoded messages of EC2.
func (s *Service) decodeAuthorizationMessage(
	_ context.Context, c *protocol.Call, _ *decodeMessageInput,
) (*decodedMessageOutput, error) {
	if err := s.allow(c, "DecodeAuthorizationMessage", "*", nil); err != nil {
		return nil, err
	}
	const code = "InvalidAuthorizationMessageException"
	return nil, service.Modelled(code, code, http.StatusBadRequest, "Message is not valid")
}

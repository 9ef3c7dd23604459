package inspect

import (
	"context"
	"strings"
	"unicode"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type putMarkInput struct {
	Text string `max:"100"`
}

type putMarkOutput struct {
	Timestamp int64 // in milliseconds since 1970
}

// putMark marks a moment for the users of an account, such as a deployment. The mark is only the event of this call in
// the trail. It is kept and read like other events.
func (s *inspector) putMark(_ context.Context, c *protocol.Call, in *putMarkInput) (*putMarkOutput, error) {
	if service.Anonymous(c) {
		return nil, service.Denied(c)
	}
	about := service.Subject{Resource: service.ARN("*"), Owner: service.Caller(c).Account}
	if err := s.authorizer.Authorize(c, about, "sluice:PutMark"); err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Text) == "" || strings.ContainsFunc(in.Text, unicode.IsControl) {
		return nil, protocol.ValidationError("Text is %.100q; it must be a line of 1 to 100 characters.", in.Text)
	}
	return &putMarkOutput{Timestamp: s.authorizer.Now().UnixMilli()}, nil
}

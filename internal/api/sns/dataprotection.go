package sns

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type getDataProtectionInput struct {
	ResourceArn *string `max:"2048"`
}

type dataProtectionOutput struct{ DataProtectionPolicy string }

// getDataProtectionPolicy answers that a topic has no such policy: none can be set, because the server does not look
// into messages for data to protect.
func (s *Service) getDataProtectionPolicy(
	_ context.Context, c *protocol.Call, in *getDataProtectionInput,
) (*dataProtectionOutput, error) {
	n, err := topicNamed(c, "ResourceArn", in.ResourceArn)
	if err != nil {
		return nil, err
	}
	_, err = s.findNamed(c, n, "SNS:GetDataProtectionPolicy", func(*service.Subject) {})
	return nil, err
}

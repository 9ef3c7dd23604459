package sns

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

// protections serves the operations about the data protection policies of topics.
type protections struct{ *core }

func (s protections) register(wire *protocol.Service) {
	protocol.Register(wire, "GetDataProtectionPolicy", s.getDataProtectionPolicy)
	protocol.Register(wire, "PutDataProtectionPolicy", s.putDataProtectionPolicy, protocol.Control)
}

// maxDataProtection is how long a data protection policy can be, in bytes.
const maxDataProtection = 30_720

type getDataProtectionInput struct {
	ResourceArn *string `max:"2048"`
}

type dataProtectionOutput struct{ DataProtectionPolicy string }

func (s protections) getDataProtectionPolicy(
	_ context.Context, c *protocol.Call, in *getDataProtectionInput,
) (*dataProtectionOutput, error) {
	t, err := s.protected(c, in.ResourceArn, "SNS:GetDataProtectionPolicy")
	if err != nil {
		return nil, err
	}
	return &dataProtectionOutput{t.Attributes.DataProtection}, nil
}

type putDataProtectionInput struct {
	ResourceArn          *string `max:"2048"`
	DataProtectionPolicy *string `max:"64K"`
}

// putDataProtectionPolicy sets the policy of a topic. The empty string removes it.
func (s protections) putDataProtectionPolicy(
	ctx context.Context, c *protocol.Call, in *putDataProtectionInput,
) (*service.Empty, error) {
	t, err := s.protected(c, in.ResourceArn, "SNS:PutDataProtectionPolicy")
	if err != nil {
		return nil, err
	}
	var v protocol.Violations
	text := v.Required("dataProtectionPolicy", in.DataProtectionPolicy)
	if err := v.Err(); err != nil {
		return nil, err
	}
	return nil, s.updateTopic(ctx, t, func(t *topic.Topic) error {
		return setDataProtection(t.Name, &t.Attributes, text, s.log)
	})
}

// protected returns the topic whose data protection policy a request reads or changes.
func (s protections) protected(c *protocol.Call, arn *string, action string) (*topic.Topic, error) {
	n, err := topicNamed(c, "ResourceArn", arn)
	if err != nil {
		return nil, err
	}
	return s.findNamed(c, n, action, func(*service.Subject) {})
}

// setDataProtection sets the data protection policy of a topic. The server stores the policy and does not inspect
// messages. It logs that, because the policy promises otherwise.
func setDataProtection(n topic.Name, a *topic.Attributes, value string, log *slog.Logger) error {
	if value != "" {
		if err := checkDataProtection(value); err != nil {
			return errParameter("DataProtectionPolicy Reason: %s", err)
		}
		log.Warn("a data protection policy has no effect: this server does not inspect messages", "topic", n.ARN())
	}
	a.DataProtection = value
	return nil
}

// dataProtectionPolicy is the part of a data protection policy that is checked.
type dataProtectionPolicy struct {
	Version   string
	Statement []struct {
		DataDirection  string
		DataIdentifier []string
		Operation      map[string]json.RawMessage
	}
}

// checkDataProtection refuses a policy that AWS's schema does not allow.
func checkDataProtection(value string) error {
	var p dataProtectionPolicy
	switch err := json.Unmarshal([]byte(value), &p); {
	case len(value) > maxDataProtection:
		return errors.New("the policy is longer than 30720 bytes")
	case err != nil:
		return errors.New("the policy is not a JSON object of that form")
	case p.Version != "2021-06-01":
		return errors.New("Version must be 2021-06-01")
	case len(p.Statement) == 0:
		return errors.New("Statement must not be empty")
	}
	for _, statement := range p.Statement {
		switch {
		case statement.DataDirection != "Inbound" && statement.DataDirection != "Outbound":
			return errors.New("Statement DataDirection must be either Inbound or Outbound")
		case len(statement.DataIdentifier) == 0:
			return errors.New("DataIdentifier must not be empty")
		case len(statement.Operation) != 1:
			return errors.New("Operation must have one member")
		}
		for name := range statement.Operation {
			if !slices.Contains([]string{"Audit", "Deidentify", "Deny"}, name) {
				return errors.New("Operation must be Audit, Deidentify or Deny")
			}
		}
	}
	return nil
}

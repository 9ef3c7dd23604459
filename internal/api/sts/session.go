package sts

import (
	"errors"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Credentials are temporary keys as clients see them.
type Credentials struct {
	AccessKeyId     string
	SecretAccessKey string `hidden:""`
	SessionToken    string `hidden:""`
	Expiration      time.Time
}

func show(t identity.Temporary, s *identity.Session) Credentials {
	return Credentials{
		AccessKeyId: t.AccessKeyID, SecretAccessKey: t.Secret, SessionToken: t.Token, Expiration: s.Expires,
	}
}

// Bounds of sessions, in seconds.
const (
	leastSeconds   = 900
	mostSeconds    = 129_600 // of users
	mostOfRoles    = 43_200
	mostOfChains   = 3_600
	mostOfRoots    = 3_600
	defaultOfUsers = 43_200
	defaultOfRoles = 3_600
)

// PolicyDescriptor names a managed policy that limits a session.
type PolicyDescriptor struct {
	Arn *string `json:"arn" max:"2048"`
}

// Tag is a tag of a session.
type Tag = service.Tag

// limits are the policies and tags that a request gives to its session.
type limits struct {
	policies []string
	arns     []string
	tags     map[string]string
	packed   int32 // percent of what a session can have
}

// packedSize is how many bytes of policies, their ARNs and tags a session can
// carry.
const packedSize = 4096

// newLimits reads the policies and tags of a request for a session of an account.
func (s *Service) newLimits(account string, document *string, descriptors []PolicyDescriptor, tags []Tag) (*limits, error) {
	l := new(limits)
	size := 0
	if document != nil {
		p, err := policy.Parse(policy.ForSession, *document)
		if err == nil {
			err = p.CheckIAM(policy.MaxSession, 0)
		}
		if err != nil {
			return nil, service.DocumentError(err, protocol.ValidationError("Maximum policy size of %d bytes exceeded", policy.MaxSession))
		}
		l.policies = []string{p.Compact()}
		size += p.Size()
	}
	for _, d := range descriptors {
		var v protocol.Violations
		arn := v.Required("policyArns.member.arn", d.Arn)
		v.Length("policyArns.member.arn", d.Arn, 20, 2048)
		if err := v.Err(); err != nil {
			return nil, err
		}
		m := s.directory.Policy(arn)
		if m == nil || m.Account != account && m.Account != "aws" {
			return nil, service.MalformedDocument("The policy %s does not exist.", arn)
		}
		l.arns = append(l.arns, arn)
		size += len(arn)
	}
	for _, t := range tags {
		var v protocol.Violations
		v.Length("tags.member.key", &t.Key, 1, 128)
		if err := v.Err(); err != nil {
			return nil, err
		}
		size += len(t.Key) + len(t.Value)
	}
	var err error
	if l.tags, err = service.TagMap(tags); err != nil {
		return nil, protocol.ValidationError("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
	}
	l.packed = int32((size*100 + packedSize - 1) / packedSize)
	if l.packed > 100 {
		return nil, errPacked(int(l.packed))
	}
	return l, nil
}

func errPacked(percent int) *protocol.Error {
	return service.Modelled("PackedPolicyTooLargeException", "PackedPolicyTooLarge", http.StatusBadRequest,
		"Packed policy consumes %d%% of allotted space, please use smaller policy.", percent)
}

// issue returns the keys of a session.
func (s *Service) issue(kind policy.CallerKind, account, name string, session *identity.Session) (Credentials, error) {
	key, err := s.vault.Issue(kind, account, name, session)
	if long, ok := errors.AsType[*identity.TokenTooLongError](err); ok {
		return Credentials{}, errPacked(long.Length * 100 / identity.MaxToken)
	}
	return show(key, session), err
}

// session returns a session that begins now.
func (s *Service) session(issuer, issuerID string, seconds int32, l *limits) *identity.Session {
	now := s.now().UTC().Truncate(time.Second)
	n := &identity.Session{
		Issuer: issuer, IssuerID: issuerID, Issued: now, Expires: now.Add(time.Duration(seconds) * time.Second),
	}
	if l != nil {
		n.Policies, n.PolicyARNs, n.Tags = l.policies, l.arns, l.tags
	}
	return n
}

// lasting returns how long a session is wanted, in seconds.
func lasting(v *protocol.Violations, wanted *int32, most, usual int32) int32 {
	v.Range("durationSeconds", wanted, leastSeconds, most)
	if wanted != nil {
		return *wanted
	}
	return usual
}

// name checks the name of a session or a federated user.
func name(v *protocol.Violations, member string, value *string, most int) string {
	v.Length(member, value, 2, most)
	v.Characters(member, value, func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			r == '_' || r == '+' || r == '=' || r == ',' || r == '.' || r == '@' || r == '-'
	}, `[\w+=,.@-]*`)
	return v.Required(member, value)
}

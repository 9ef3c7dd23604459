package sts

import (
	"errors"
	"net/http"
	"slices"
	"strings"
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

// Limits of sessions, in seconds, beyond those of the model.
const (
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

// restrictions are the parameters that restrict a session, for all operations that have them.
type restrictions struct {
	Policy     *string            `max:"16K"`
	PolicyArns []PolicyDescriptor `max:"10"  wrap:"member"`
}

// limits are the limits of a session from its request.
type limits struct {
	identity.Terms
	packed *int32 // percent of the policies and tags that a session can have; nil without any
}

// packedSize is the maximum size of a session's policies, their ARNs and tags, in bytes.
const packedSize = 4096

// newLimits reads the policies and tags of a request for a session of an account.
func (s *Service) newLimits(account string, in *restrictions, tags []Tag) (*limits, error) {
	l := new(limits)
	size, err := s.addPolicies(&l.Terms, account, in)
	if err != nil {
		return nil, err
	}
	tagged, err := addTags(&l.Terms, tags)
	if err != nil {
		return nil, err
	}
	if size += tagged; size > 0 {
		l.packed = new(int32((size*100 + packedSize - 1) / packedSize))
		if *l.packed > 100 {
			return nil, errPacked(int(*l.packed))
		}
	}
	return l, nil
}

// addPolicies adds the policies of a request to a session's terms, and returns their size.
func (s *Service) addPolicies(t *identity.Terms, account string, in *restrictions) (size int, err error) {
	if in.Policy != nil {
		p, err := policy.Parse(policy.ForSession, *in.Policy)
		if err == nil {
			err = p.CheckIAM(policy.MaxSession, 0)
		}
		if err != nil {
			return 0, service.DocumentError(
				err, protocol.ValidationError("Maximum policy size of %d bytes exceeded", policy.MaxSession),
			)
		}
		t.Policies = []string{p.Compact()}
		size += p.Size()
	}
	for _, d := range in.PolicyArns {
		arn := ""
		if d.Arn != nil {
			arn = *d.Arn
		}
		m := s.directory.Policy(arn)
		if m == nil || m.Account != account && m.Account != "aws" {
			return 0, service.MalformedDocument("The policy %s does not exist.", arn)
		}
		t.PolicyARNs = append(t.PolicyARNs, arn)
		size += len(arn)
	}
	return size, nil
}

// addTags adds tags to a session's terms, and returns their size.
func addTags(t *identity.Terms, tags []Tag) (size int, err error) {
	if err := service.CheckTags(tags); err != nil {
		return 0, err
	}
	for _, tag := range tags {
		size += len(tag.Key) + len(tag.Value)
	}
	if t.Tags, err = service.FoldedTagMap(tags); err != nil {
		return 0, protocol.InvalidParameterValue("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
	}
	for key := range t.Tags {
		if strings.HasPrefix(strings.ToLower(key), "aws:") {
			return 0, protocol.InvalidParameterValue("Caller is an end user and not allowed to mutate system tags")
		}
	}
	return size, nil
}

// pass marks the tags that sessions begun by this one inherit.
func (l *limits) pass(keys []string) error {
	for _, name := range keys {
		key, ok := l.tagKey(name)
		if !ok {
			return protocol.InvalidParameterValue("The specified transitive tag key must be included in the requested tags.")
		}
		if !slices.Contains(l.Transitive, key) {
			l.Transitive = append(l.Transitive, key)
		}
	}
	return nil
}

// tagKey returns the key of a tag by a name that may differ from it in case.
func (l *limits) tagKey(name string) (key string, ok bool) {
	for key := range l.Tags {
		if strings.EqualFold(key, name) {
			return key, true
		}
	}
	return "", false
}

// inherit adds what a session passes on to the sessions that it begins by assuming roles: its transitive tags, and its
// source identity.
func (l *limits) inherit(from *identity.Session) error {
	if from == nil {
		return nil
	}
	for key := range l.Tags {
		if slices.ContainsFunc(from.Transitive, func(other string) bool { return strings.EqualFold(key, other) }) {
			return protocol.InvalidParameterValue(
				"One of the specified transitive tag keys can't be set because it conflicts with a transitive tag key from the calling session.",
			)
		}
	}
	for _, key := range from.Transitive {
		if l.Tags == nil {
			l.Tags = make(map[string]string)
		}
		l.Tags[key] = from.Tags[key]
		l.Transitive = append(l.Transitive, key)
	}
	if l.SourceIdentity == "" {
		l.SourceIdentity = from.SourceIdentity
	}
	return nil
}

func errPacked(percent int) *protocol.Error {
	return service.Modelled("PackedPolicyTooLargeException", "PackedPolicyTooLarge", http.StatusBadRequest,
		"Packed policy consumes %d%% of allotted space, please use smaller policy.", percent)
}

// issue returns the keys of a session.
func (s *Service) issue(
	kind policy.CallerKind, account, name string, session *identity.Session, size tokenSize,
) (Credentials, error) {
	key, err := s.vault.IssuePadded(kind, account, name, session, size.least())
	if long, ok := errors.AsType[*identity.TokenTooLongError](err); ok {
		return Credentials{}, errPacked(long.Length * 100 / identity.MaxToken)
	}
	return show(key, session), err
}

// sessionOf returns a session of a user or a root that begins now.
func (s *Service) sessionOf(id *identity.Identity, seconds int32, l *limits) *identity.Session {
	n := s.session(id.ARN, id.UserID, seconds, l)
	if id.IsRoot() {
		n.RootKey = id.AccessKeyID
	}
	return n
}

// session returns a session that begins now.
func (s *Service) session(issuer, issuerID string, seconds int32, l *limits) *identity.Session {
	now := s.now().UTC().Truncate(time.Second)
	n := &identity.Session{
		Issuer: issuer, IssuerID: issuerID, Issued: now, Expires: now.Add(time.Duration(seconds) * time.Second),
	}
	if l != nil {
		n.Terms = l.Terms
	}
	return n
}

// lasting returns the requested length of a session, in seconds.
func lasting(wanted *int32, usual int32) int32 {
	if wanted != nil {
		return *wanted
	}
	return usual
}

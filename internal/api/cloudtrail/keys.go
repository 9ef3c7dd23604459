package cloudtrail

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
)

type listPublicKeysInput struct {
	EndTime   *time.Time
	NextToken *string `max:"1024"`
	StartTime *time.Time
}

type publicKey struct {
	Fingerprint       string
	ValidityEndTime   time.Time
	ValidityStartTime time.Time
	Value             []byte
}

type listPublicKeysOutput struct {
	PublicKeyList []publicKey `json:",always"`
}

// listPublicKeys returns the keys that could sign at some point of the requested period: the last day, if the request
// names none.
func (s *Service) listPublicKeys(
	_ context.Context, c *protocol.Call, in *listPublicKeysInput,
) (*listPublicKeysOutput, error) {
	if err := s.authorizer.Authorize(
		c, service.Subject{Resource: service.ARN("*")}, "cloudtrail:ListPublicKeys",
	); err != nil {
		return nil, err
	}
	if in.NextToken != nil {
		return nil, refusal("InvalidTokenException", "The token of the page cannot be read: there is only one page.")
	}
	to := s.authorizer.Now()
	if in.EndTime != nil {
		to = *in.EndTime
	}
	from := to.Add(-24 * time.Hour)
	if in.StartTime != nil {
		from = *in.StartTime
	}
	if from.After(to) {
		return nil, refusal("InvalidTimeRangeException", "The start time must not be after the end time.")
	}
	out := new(listPublicKeysOutput)
	for _, k := range s.trails.Keys(c.Region) {
		if begins, ends := k.Valid(); !begins.After(to) && !ends.Before(from) {
			out.PublicKeyList = append(out.PublicKeyList, shownKey(k))
		}
	}
	return out, nil
}

func shownKey(k *trails.Key) publicKey {
	from, to := k.Valid()
	return publicKey{Fingerprint: k.Fingerprint, ValidityStartTime: from, ValidityEndTime: to, Value: k.Public}
}

package cloudtrail

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
)

func (s *Service) startLogging(ctx context.Context, c *protocol.Call, in *trailInput) (*service.Empty, error) {
	return s.setLogging(ctx, c, "StartLogging", in, true)
}

func (s *Service) stopLogging(ctx context.Context, c *protocol.Call, in *trailInput) (*service.Empty, error) {
	return s.setLogging(ctx, c, "StopLogging", in, false)
}

// setLogging turns a trail on or off.
func (s *Service) setLogging(
	ctx context.Context, c *protocol.Call, action string, in *trailInput, on bool,
) (*service.Empty, error) {
	t, err := s.findHere(c, action, in.Name)
	if err != nil {
		return nil, err
	}
	now := s.authorizer.Now().UTC().Truncate(time.Millisecond)
	_, err = s.edit(ctx, t.Name, func(t *trails.Trail) error {
		if on {
			t.Started = now
		} else {
			t.Stopped = now
		}
		t.Logging = on
		return nil
	})
	return nil, err
}

type getTrailStatusOutput struct {
	IsLogging                          bool
	LatestDeliveryAttemptSucceeded     string
	LatestDeliveryAttemptTime          string
	LatestDeliveryError                string `json:",omitempty"`
	LatestDeliveryTime                 *time.Time
	LatestDigestDeliveryError          string `json:",omitempty"`
	LatestDigestDeliveryTime           *time.Time
	LatestNotificationAttemptSucceeded string
	LatestNotificationAttemptTime      string
	LatestNotificationError            string `json:",omitempty"`
	LatestNotificationTime             *time.Time
	StartLoggingTime                   *time.Time
	StopLoggingTime                    *time.Time
	TimeLoggingStarted                 string
	TimeLoggingStopped                 string
}

func (s *Service) getTrailStatus(_ context.Context, c *protocol.Call, in *trailInput) (*getTrailStatusOutput, error) {
	t, err := s.find(c, "GetTrailStatus", in.Name)
	if err != nil {
		return nil, err
	}
	status := s.trails.Status(t)
	return &getTrailStatusOutput{
		IsLogging:                      t.Logging,
		LatestDeliveryAttemptSucceeded: asText(status.Delivered), LatestDeliveryAttemptTime: asText(status.Attempted),
		LatestDeliveryError: status.Error, LatestDeliveryTime: service.OptionalTime(status.Delivered),
		LatestDigestDeliveryError:          status.DigestError,
		LatestDigestDeliveryTime:           service.OptionalTime(status.DigestDelivered),
		LatestNotificationAttemptSucceeded: asText(status.Notified),
		LatestNotificationAttemptTime:      asText(status.NotifyTried),
		LatestNotificationError:            status.NotifyError,
		LatestNotificationTime:             service.OptionalTime(status.Notified),
		StartLoggingTime:                   service.OptionalTime(t.Started),
		StopLoggingTime:                    service.OptionalTime(t.Stopped),
		TimeLoggingStarted:                 asText(t.Started), TimeLoggingStopped: asText(t.Stopped),
	}, nil
}

// asText writes a time as the older fields have it.
func asText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

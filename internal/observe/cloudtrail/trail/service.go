package trail

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// ServiceEvent is an action of a service on its own, without a caller.
type ServiceEvent struct {
	Account  string // whose resource it is
	Region   string
	Service  string // sqs
	Name     string
	Resource string // ARN
	Details  map[string]string
	At       time.Time
}

// BeginService returns the record of a service's own action. It is stored with the change that is made with
// Record.Changes, or not at all.
func (t *Trail) BeginService(s *ServiceEvent) *Record {
	details, err := json.Marshal(s.Details)
	if err != nil {
		panic(err) // texts only
	}
	by := source(s.Service)
	r := &Record{
		trail:  t,
		at:     s.At,
		id:     uuid.Must(uuid.NewV7()),
		caller: s.Account,
		about:  &protocol.About{ARN: s.Resource, Owner: s.Account},
	}
	r.event = Event{
		EventVersion: eventVersion, UserIdentity: Identity{Type: "AWSService", AccountID: s.Account, InvokedBy: by},
		EventTime: s.At.UTC().Truncate(time.Second), EventSource: by, EventName: s.Name, AWSRegion: s.Region,
		SourceIPAddress: by,
		UserAgent:       by, RequestID: uuid.NewString(), EventType: "AwsServiceEvent", ManagementEvent: true,
		EventCategory:       "Management",
		ServiceEventDetails: details,
	}
	return r
}

package trail

import (
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// DataSink gets the events of calls on what a service stores for its users, such as messages: data events. They are not
// in the control store.
type DataSink interface {
	// WantsData reports whether any data event is wanted.
	WantsData() bool
	// AddData takes an event, and must not wait.
	AddData(*Event)
}

// DataTo has data events given to a sink from now on.
func (t *Trail) DataTo(s DataSink) { t.data.Store(&s) }

// WantsData reports whether data events are recorded. It is asked for every message that is sent.
func (t *Trail) WantsData() bool {
	s := t.data.Load()
	return s != nil && (*s).WantsData()
}

// BeginData returns the record of a call of an operation on data, which began at some time.
func (t *Trail) BeginData(c *protocol.Call, op *protocol.Operation, who *identity.Identity, began time.Time) *Record {
	r := t.Begin(c, op, who, began)
	r.data = true
	r.event.ManagementEvent, r.event.EventCategory = false, "Data"
	r.event.ReadOnly = r.event.ReadOnly || op.Name == "ReceiveMessage"
	return r
}

// give gives the event of a call on data to the sink.
func (r *Record) give() {
	s := r.trail.data.Load()
	if s == nil {
		return
	}
	r.each(func(e *Event, _ uuid.UUID) { (*s).AddData(e) })
}

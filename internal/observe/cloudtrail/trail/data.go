package trail

import (
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// DataSink receives the events of calls on stored data, such as messages: data events. They are not in the control
// store.
type DataSink interface {
	// WantsData reports whether any data event is wanted.
	WantsData() bool
	// AddData receives an event. It must not wait.
	AddData(*Event)
}

// DataTo sets the sink that receives data events from now on.
func (t *Trail) DataTo(s DataSink) { t.data.Store(&s) }

// WantsData reports whether data events are recorded. It is called for every message that is sent.
func (t *Trail) WantsData() bool {
	s := t.data.Load()
	return s != nil && (*s).WantsData()
}

// BeginData returns the record of a data operation's call that began at a time.
func (t *Trail) BeginData(c *protocol.Call, op *protocol.Operation, who *identity.Identity, began time.Time) *Record {
	r := t.Begin(c, op, who, began)
	r.data = true
	r.event.ManagementEvent, r.event.EventCategory = false, "Data"
	r.event.ReadOnly = r.event.ReadOnly || op.Name == "ReceiveMessage"
	return r
}

// give passes the event of a data call to the sink.
func (r *Record) give() {
	s := r.trail.data.Load()
	if s == nil {
		return
	}
	r.each(func(e *Event, _ uuid.UUID) { (*s).AddData(e) })
}

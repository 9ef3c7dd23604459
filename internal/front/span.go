package front

import (
	"net/http"

	"github.com/sluicemq/sluice/internal/observe/spans"
)

// endSpan makes the span of a request that is over.
func (x *request) endSpan() {
	o := &spans.Outcome{Began: x.began, Ended: x.front.Now(), ID: x.id, Service: x.service.Name, Host: x.r.Host, Status: http.StatusOK}
	if x.parsed != nil && x.service.Knows(x.parsed.Operation) {
		o.Operation = x.parsed.Operation
	}
	if x.call != nil {
		o.Region, o.Notes = x.call.Region, x.call.Notes.Attrs()
	}
	switch {
	case x.err != nil:
		o.Status, o.Code = x.err.Status, x.err.Code
	case x.gone:
		o.Status = 0
	case x.answered != 0:
		o.Status = x.answered
	}
	x.span.End(o)
}

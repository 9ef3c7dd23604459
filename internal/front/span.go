package front

import "github.com/sluicemq/sluice/internal/observe/spans"

// endSpan ends the span of a request.
func (x *request) endSpan() {
	o := &spans.Outcome{Began: x.began, Ended: x.front.Now(), ID: x.id, Service: x.who.service.Name, Host: x.r.Host}
	if x.parsed != nil && x.who.service.Knows(x.parsed.Operation) {
		o.Operation = x.parsed.Operation
	}
	if x.call != nil {
		o.Region, o.Notes = x.call.Region, x.call.Notes.Attrs()
	}
	x.result.describe(o)
	x.span.End(o)
}

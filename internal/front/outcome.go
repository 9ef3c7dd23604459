package front

import (
	"log/slog"
	"net/http"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/observe/spans"
)

// outcome is the result of a request.
type outcome struct {
	err      *protocol.Error // the client's error
	cause    error           // its cause, if clients must not see it
	denial   *access.Denial  // the policy that refused the caller, if any
	gone     bool            // the client left before the answer
	begun    bool            // a long answer has begun and can no longer become an error
	answered int32           // the status of an answer from another node or the sign-in
}

// attrs returns the outcome for the log. relayed marks an answer from another node.
func (o *outcome) attrs(relayed bool) []slog.Attr {
	if o.gone && o.err == nil {
		return []slog.Attr{slog.Bool("gone", true)}
	}
	var attrs []slog.Attr
	status := http.StatusOK
	switch {
	case o.err != nil:
		status = o.err.Status
		attrs = append(attrs, slog.String("code", o.err.Code), slog.String("error", loggable(o.err.Message)))
		if o.err.Detail != "" {
			attrs = append(attrs, slog.String("detail", loggable(o.err.Detail)))
		}
	case o.answered != 0:
		status = int(o.answered)
		if relayed {
			attrs = append(attrs, slog.Bool("relayed", true))
		}
	}
	attrs = append(attrs, slog.Int("status", status))
	if o.denial != nil {
		attrs = append(attrs, slog.String("denied_by", o.denial.Reason()))
	}
	if o.cause != nil {
		attrs = append(attrs, slog.String("cause", loggable(o.cause.Error())))
	}
	if o.gone {
		attrs = append(attrs, slog.Bool("gone", true))
	}
	return attrs
}

// label returns the outcome for the metrics.
func (o *outcome) label() prom.Outcome {
	switch {
	case o.gone:
		return prom.Gone
	case o.err != nil:
		return prom.OutcomeOf(o.err.Status)
	case o.answered != 0:
		return prom.OutcomeOf(int(o.answered))
	}
	return prom.OK
}

// describe adds the outcome to the description of a span.
func (o *outcome) describe(s *spans.Outcome) {
	s.Status = http.StatusOK
	switch {
	case o.err != nil:
		s.Status, s.Code = o.err.Status, o.err.Code
	case o.gone:
		s.Status = 0
	case o.answered != 0:
		s.Status = int(o.answered)
	}
}

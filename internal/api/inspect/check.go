package inspect

import (
	"context"
	"errors"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// maxChecks bounds how many actions one call decides on.
const maxChecks = 25

type checkAccessInput struct {
	QueueUrl string   `max:"2048"`
	Actions  []string `max:"25,128"` // with their service: sqs:SendMessage
}

type checkAccessOutput struct {
	Decisions []accessDecision `json:",always"` // one for each action, in the order of the request
}

// accessDecision is the decision whether the caller may take an action.
type accessDecision struct {
	Action  string
	Allowed bool
	Message string `json:",omitempty"` // the error message of a request that is refused
}

// checkAccess returns the actions that the caller may take on a queue, with this request's address, session and other
// conditions. It reveals only what callers could learn by making the requests, so it needs no permission; a policy can
// deny it. A caller who may take none of the actions, or who may create the queue, gets the same answer whether or not
// the queue exists.
func (s *inspector) checkAccess(_ context.Context, c *protocol.Call, in *checkAccessInput) (*checkAccessOutput, error) {
	n, ok := service.QueueName(c, in.QueueUrl)
	switch {
	case service.Anonymous(c):
		return nil, service.Denied(c)
	case !ok:
		return nil, errNoQueue()
	case len(in.Actions) == 0 || len(in.Actions) > maxChecks:
		return nil, protocol.ValidationError("There are %d Actions; there must be 1 to %d.", len(in.Actions), maxChecks)
	}
	q := s.catalog.Find(n)
	n.Queue = service.Shorten(n.Queue)
	c.Notes.Set("queue", n.ARN())
	about := subject(n, q)
	if err := s.authorizer.Forbidden(c, about, "sluice:CheckAccess"); err != nil {
		return nil, err
	}
	out := &checkAccessOutput{Decisions: make([]accessDecision, len(in.Actions))}
	allowed := false
	for i, text := range in.Actions {
		d, err := s.decide(c, about, text)
		if err != nil {
			return nil, err
		}
		out.Decisions[i] = d
		allowed = allowed || d.Allowed && !strings.EqualFold(text, "sqs:CreateQueue")
	}
	if q == nil && allowed {
		return nil, errNoQueue()
	}
	return out, nil
}

// decide returns whether the caller may take an action on the subject.
func (s *inspector) decide(c *protocol.Call, about service.Subject, text string) (accessDecision, error) {
	action, rules, err := s.action(text)
	if err != nil {
		return accessDecision{}, err
	}
	authorizer := s.authorizer
	switch rules.Vendor {
	case "sqs":
		authorizer = s.messages
	case "sluice":
	default:
		return accessDecision{}, protocol.ValidationError(
			"Action is %q, which is not about queues.", service.Shorten(text),
		)
	}
	err = authorizer.Authorize(c, about, action)
	if err == nil {
		return accessDecision{Action: text, Allowed: true}, nil
	}
	denial, ok := errors.AsType[*access.Denial](err)
	if !ok {
		return accessDecision{}, err
	}
	return accessDecision{Action: text, Message: denial.Error()}, nil
}

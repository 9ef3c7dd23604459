package service

import (
	"log/slog"

	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// maxWarnings is the maximum number of log lines about one policy.
const maxWarnings = 5

// Services are the rules of services with complete lists of actions.
type Services []*policy.Rules

// WarnOfPolicy logs the parts of an accepted policy that never have an effect; see policy.Warnings. holder is the ARN
// of the policy's resource.
func WarnOfPolicy(log *slog.Logger, p *policy.Policy, holder string, services Services) {
	warnings := p.Warnings(holder, services...)
	for _, w := range warnings[:min(len(warnings), maxWarnings)] {
		log.Warn(
			"a policy was set, and a part of it has no effect",
			"on",
			Shorten(holder),
			"line",
			w.Line,
			"column",
			w.Column,
			"reason",
			w.Text,
		)
	}
}

// RulesOf returns rules with all actions of a service: its operations, including unsupported ones, and others.
func RulesOf(wire *protocol.Service, others ...string) *policy.Rules {
	r := &policy.Rules{Vendor: wire.Name}
	for _, name := range append(wire.Names(), others...) {
		r.Actions = append(r.Actions, wire.Name+":"+name)
	}
	return r
}

package service

import (
	"log/slog"

	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// maxWarnings is how many lines the log gets about one policy.
const maxWarnings = 5

// Services are the rules of services whose actions are all listed.
type Services []*policy.Rules

// WarnOfPolicy notes in the log what in a policy that was accepted never has an effect; see policy.Warnings. Holder is
// what the policy was set on, by its ARN.
func WarnOfPolicy(log *slog.Logger, p *policy.Policy, holder string, services Services) {
	warnings := p.Warnings(holder, services...)
	for _, w := range warnings[:min(len(warnings), maxWarnings)] {
		log.Warn(
			"a policy was set of which a part has no effect",
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

// RulesOf returns rules with all actions of a service: its operations, also those that are not supported, and others.
func RulesOf(wire *protocol.Service, others ...string) *policy.Rules {
	r := &policy.Rules{Vendor: wire.Name}
	for _, name := range append(wire.Names(), others...) {
		r.Actions = append(r.Actions, wire.Name+":"+name)
	}
	return r
}

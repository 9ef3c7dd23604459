package service

import (
	"log/slog"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// maxWarnings is how many lines the log gets about one policy.
const maxWarnings = 5

// WarnOfPolicy notes in the log what in a policy that was accepted never has an effect; see policy.Warnings. Holder is
// what the policy was set on, by its ARN.
func WarnOfPolicy(log *slog.Logger, p *policy.Policy, holder string) {
	warnings := p.Warnings(holder)
	for _, w := range warnings[:min(len(warnings), maxWarnings)] {
		log.Warn("a policy was set of which a part has no effect", "on", Shorten(holder), "line", w.Line, "column", w.Column, "reason", w.Text)
	}
}

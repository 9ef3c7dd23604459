package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// decision is the result of a simulation.
type decision struct {
	*simulated
	explanation *policy.Explanation
}

func (d decision) text(w io.Writer) error {
	var b strings.Builder
	for _, w := range d.Warnings {
		fmt.Fprintln(&b, "warning:", w)
	}
	b.WriteString(d.explanation.String())
	if len(d.Missing) > 0 {
		fmt.Fprintf(&b, "The request does not have: %s\n", strings.Join(d.Missing, ", "))
	}
	if !d.explanation.Allowed() {
		fmt.Fprintln(&b, d.simulated.Message)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// simulated is an answer for programs.
type simulated struct {
	Decision   string             `json:"decision"` // allowed, implicitDeny or explicitDeny
	By         string             `json:"by"`       // policies that decided, or that lack an Allow
	Message    string             `json:"message,omitempty"`
	Rule       string             `json:"rule,omitempty"` // other causes of the decision
	Statements []simulatedVerdict `json:"statements"`
	Missing    []string           `json:"missingContextKeys"`
	Warnings   []string           `json:"warnings"` // parts of the policies without effect
}

// simulatedVerdict is the result of one statement.
type simulatedVerdict struct {
	Source  string `json:"source"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Sid     string `json:"sid,omitempty"`
	Effect  string `json:"effect"`
	Applies bool   `json:"applies"`
	Decided bool   `json:"decided"`
	Element string `json:"element,omitempty"` // that did not match
	Reason  string `json:"reason"`
}

func reportOf(x *policy.Explanation, r *policy.Request) *simulated {
	s := &simulated{
		Decision: x.Result.String(), By: x.By.String(), Rule: x.Rule,
		Statements: []simulatedVerdict{}, Missing: append([]string{}, x.Missing...),
		Warnings: append([]string{}, warningsOf(r)...),
	}
	if !x.Allowed() {
		s.Message = x.Message(r)
	}
	for _, t := range x.Traces {
		s.Statements = append(s.Statements, simulatedVerdict{
			Source: t.Source.String(), File: t.Policy.Name(), Line: t.Statement.Start.Line, Sid: t.Statement.Sid,
			Effect: t.Statement.Effect.String(), Applies: t.Matched,
			Decided: t.Policy == x.Policy && t.Statement.Index == x.Statement, Element: t.Element, Reason: t.Reason(),
		})
	}
	return s
}

// warningsOf returns the parts of a request's policies that never have an effect.
func warningsOf(r *policy.Request) []string {
	var all []string
	for _, p := range append(slices.Clone(r.Identity), r.Boundary, r.ResourcePolicy) {
		if p == nil {
			continue
		}
		for _, w := range p.Warnings(r.Resource, services()...) {
			all = append(all, p.Name()+": "+w.String())
		}
	}
	return all
}

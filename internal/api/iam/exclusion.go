package iam

import (
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
)

// Exclusion names policies that a simulation does without, in one of three ways.
type Exclusion struct {
	PolicyType             *string `max:"64"`
	PolicyArn              *string `max:"2048"`
	InlinePolicyIdentifier *InlineExclusion
}

// InlineExclusion names an inline policy of one entity or of several.
type InlineExclusion struct {
	PolicyName     *string `max:"128"`
	AttachmentType *string `max:"64"`
	AttachmentName *string `max:"128"`
}

// exclusionsOf returns whether a simulation does without a policy.
func exclusionsOf(list []Exclusion) (without func(directory.Origin) bool, err error) {
	for i := range list {
		if err := list[i].check(); err != nil {
			return nil, err
		}
	}
	return func(o directory.Origin) bool {
		for i := range list {
			if list[i].names(o) {
				return true
			}
		}
		return false
	}, nil
}

// check refuses patterns that cannot name policies.
func (x *Exclusion) check() error {
	ways := 0
	for _, given := range []bool{x.PolicyType != nil, x.PolicyArn != nil, x.InlinePolicyIdentifier != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return errInput("A policy is identified by exactly one of PolicyType, PolicyArn and InlinePolicyIdentifier.")
	case x.PolicyArn != nil:
		scope, name, ok := strings.Cut(*x.PolicyArn, ":policy/")
		if !ok || !isARN(*x.PolicyArn) || strings.ContainsAny(scope, "*?") || strings.Count(name, "*") > 1 {
			return errInput("ARN %s is not valid.", service.Shorten(*x.PolicyArn))
		}
	case x.InlinePolicyIdentifier != nil && strings.Count(*x.InlinePolicyIdentifier.AttachmentName, "*") > 1:
		return errInput("%s is not valid.", *x.InlinePolicyIdentifier.AttachmentName)
	}
	return nil
}

// names reports whether x names a policy. Policies of organizations do not exist here.
func (x *Exclusion) names(o directory.Origin) bool {
	inline := o.Inline != ""
	switch {
	case x.PolicyArn != nil:
		return !inline && !o.Boundary && like(*x.PolicyArn, o.ARN)
	case x.InlinePolicyIdentifier != nil:
		of := x.InlinePolicyIdentifier
		return inline && *of.PolicyName == o.Inline && *of.AttachmentType == string(o.Holder.Kind) &&
			like(*of.AttachmentName, o.Holder.Name)
	}
	switch *x.PolicyType {
	case "inline":
		return inline
	case "permission-boundary":
		return o.Boundary
	case "aws-managed":
		return !inline && !o.Boundary && strings.Contains(o.ARN, "::aws:")
	case "user-managed":
		return !inline && !o.Boundary && !strings.Contains(o.ARN, "::aws:")
	}
	return false
}

// like reports whether a text matches a pattern with at most one star, and question marks. It does not use the matcher
// of policy elements, which accepts any number of stars: that one may scan a text once for each of its characters, so
// it needs the budget of a decision, and a request can compare 256 patterns with each policy. With one star a single
// scan is enough, and no budget is needed.
func like(pattern, text string) bool {
	begins, ends, star := strings.Cut(pattern, "*")
	if len(text) < len(begins)+len(ends) || !star && len(text) != len(begins) {
		return false
	}
	return sameButMarks(begins, text[:len(begins)]) && sameButMarks(ends, text[len(text)-len(ends):])
}

// sameButMarks reports whether two texts of the same length are equal, where a question mark stands for any character.
func sameButMarks(pattern, text string) bool {
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != text[i] {
			return false
		}
	}
	return true
}

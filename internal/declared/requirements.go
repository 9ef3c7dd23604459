package declared

import (
	"context"
	"slices"
	"strings"
)

// requirement is something that a resource names, that its file does not create, and that must exist.
type requirement struct {
	Ref            // the resource that needs it
	setting string // the setting that names it
	arn     string // of the required resource
	exists  func(context.Context, API, string) (bool, error)
	what    string // its kind, for people
}

// required returns what the resources need on the server, unless it was found already.
func required(f *File, found Found) (all []requirement) {
	made := make(map[string]bool)
	for _, r := range f.Resources {
		made[r.ARN(r.Settings["path"])] = true
	}
	add := func(r *Resource, setting, arn, what string, exists func(context.Context, API, string) (bool, error)) {
		is := found[r.key()]
		if arn == "" || made[arn] || is != nil && unchanged(r, is, setting) {
			return
		}
		all = append(all, requirement{r.Ref, setting, arn, exists, what})
	}
	for _, r := range f.Resources {
		if r.Kind == QueueKind || r.Kind == SubscriptionKind {
			add(r, "dead-letters", undeliveredTarget(r.Settings["dead-letters"]), "queue", queueExists)
		}
		for key := range r.Settings {
			if arn, ok := strings.CutPrefix(key, "policies."); ok {
				add(r, key, arn, "policy", policyExists)
			}
		}
		add(r, "boundary", r.Settings["boundary"], "policy", policyExists)
	}
	slices.SortFunc(all, func(a, b requirement) int {
		if c := inOrder(a.Ref, b.Ref); c != 0 {
			return c
		}
		return strings.Compare(a.setting, b.setting)
	})
	return all
}

// unchanged reports whether a resource has a setting as in the file, so that it is not changed.
func unchanged(r *Resource, is *Actual, setting string) bool {
	have, there := is.Settings[setting]
	return there && settingOf(r.Kind, setting).shape.same(have, r.Settings[setting])
}

// check asks whether the resources that a file needs exist. If the caller lacks the permission to check, the apply will
// show it.
func (s *Session) check(ctx context.Context, f *File, found Found) []error {
	places := make(map[Ref]*Resource, len(f.Resources))
	for _, r := range f.Resources {
		places[r.Ref] = r
	}
	known := make(map[requirementKey]bool)
	var missing []error
	for _, q := range required(f, found) {
		key := requirementKey{q.Scope, q.arn}
		there, asked := known[key]
		if !asked {
			there = s.exists(ctx, q)
			known[key] = there
		}
		if !there {
			missing = append(
				missing,
				f.problem(places[q.Ref].place(q.setting), "there is no %s %s", q.what, shorten(shortenedARN(q))),
			)
		}
	}
	return missing
}

type requirementKey struct {
	Scope
	arn string
}

func (s *Session) exists(ctx context.Context, q requirement) bool {
	api, err := s.api(ctx, q.Scope)
	if err != nil {
		return true
	}
	there, err := q.exists(ctx, api, q.arn)
	return there || err != nil
}

func shortenedARN(q requirement) string {
	if q.what == "policy" {
		return shortPolicy(q.Scope, q.arn)
	}
	return shortened(q.Scope, q.arn)
}

func policyExists(ctx context.Context, api API, arn string) (bool, error) {
	err := api.IAM(ctx, "GetPolicy", nil, "PolicyArn", arn)
	if isRefusal(err, noEntity) {
		return false, nil
	}
	return err == nil, err
}

func queueExists(ctx context.Context, api API, arn string) (bool, error) {
	q, ok := refOfARN(arn)
	if !ok {
		return true, nil
	}
	err := api.SQS(ctx, "GetQueueUrl", map[string]string{"QueueName": q.Name, "QueueOwnerAWSAccountId": q.Account}, nil)
	if isRefusal(err, noQueue...) {
		return false, nil
	}
	return err == nil, err
}

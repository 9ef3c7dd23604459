package declared

import (
	"context"
	"strings"
)

// ExportTo returns a file of the resources of some kinds in one scope, converted for another: ARNs, and accounts in
// policies, are changed to the other scope. The queues of subscriptions let their topics send, which some test servers
// do not require.
func (s *Session) ExportTo(ctx context.Context, from, to Scope, name string, of ...Kind) ([]byte, error) {
	found, err := s.readAll(ctx, from, of)
	if err != nil {
		return nil, err
	}
	found = found.relocated(from, to)
	found.permitAll()
	return write(found, to, name)
}

// relocated returns the found resources of a scope as if they were in another.
func (f Found) relocated(from, to Scope) Found {
	arns := strings.NewReplacer(
		(Ref{from, QueueKind, ""}).ARN(""), (Ref{to, QueueKind, ""}).ARN(""),
		(Ref{from, TopicKind, ""}).ARN(""), (Ref{to, TopicKind, ""}).ARN(""),
		(Ref{from, AlarmKind, ""}).ARN(""), (Ref{to, AlarmKind, ""}).ARN(""),
		"arn:"+from.Partition+":iam::"+from.Account+":", "arn:"+to.Partition+":iam::"+to.Account+":",
	)
	accounts := strings.NewReplacer(`"`+from.Account+`"`, `"`+to.Account+`"`)
	out := make(Found, len(f))
	for ref, is := range f {
		moved := &Actual{
			Ref: newRef(to, ref.Kind, arns.Replace(is.Name)), arn: arns.Replace(is.arn), Settings: make(Settings),
		}
		for key, value := range is.Settings {
			value = arns.Replace(value)
			if key == "policy" || strings.HasPrefix(key, permission+".") {
				value = accounts.Replace(value)
			}
			moved.Settings[arns.Replace(key)] = value
		}
		out[moved.key()] = moved
	}
	return out
}

// permitAll adds the permission for topics to send to the queues of their subscriptions.
func (f Found) permitAll() {
	for ref, is := range f {
		if ref.Kind != SubscriptionKind {
			continue
		}
		topic, protocol, endpoint := ref.subscription()
		targets := []string{undeliveredTarget(is.Settings["dead-letters"])}
		if protocol == "sqs" {
			targets = append(targets, endpoint)
		}
		for _, target := range targets {
			if queue, ok := refOfARN(target); ok && f[queue] != nil {
				f[queue].Settings[permission+"."+newRef(ref.Scope, TopicKind, topic).ARN("")] = ""
			}
		}
	}
}

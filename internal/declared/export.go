package declared

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/tool/weburl"
)

// Export returns a file with all resources in a scope. Applying it there changes nothing.
func (s *Session) Export(ctx context.Context, scope Scope, name string) ([]byte, error) {
	found, err := s.readAll(ctx, scope, kinds)
	if err != nil {
		return nil, err
	}
	return write(found, scope, name)
}

// readAll returns all resources of some kinds in a scope.
func (s *Session) readAll(ctx context.Context, scope Scope, of []Kind) (Found, error) {
	refs, err := s.list(ctx, scope, of)
	if err != nil {
		return nil, err
	}
	found := make(Found)
	for _, ref := range refs {
		if err := s.readInto(ctx, found, ref); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// write writes the found resources of a scope as a file.
func write(found Found, scope Scope, name string) ([]byte, error) {
	top := []entry{{"name", name}}
	order := []Kind{
		QueueKind, TopicKind, AlarmKind, CompositeKind, PolicyKind, GroupKind, UserKind, RoleKind, LimitKind,
	}
	for _, kind := range order {
		var section []entry
		for _, ref := range slices.SortedFunc(maps.Keys(found), inOrder) {
			if ref.Kind == kind {
				section = append(section, entry{ref.Name, found.describe(ref, scope)})
			}
		}
		if section != nil {
			top = append(top, entry{kind.plural(), section})
		}
	}
	var b bytes.Buffer
	dumper, err := yaml.NewDumper(&b, yaml.WithIndent(2), yaml.WithLineWidth(120))
	if err != nil {
		return nil, err
	}
	if err := dumper.Dump(toYAML(top)); err != nil {
		return nil, err
	}
	return b.Bytes(), dumper.Close()
}

// describe returns a resource in the form of the file.
func (f Found) describe(ref Ref, scope Scope) []entry {
	is := f[ref]
	out := []entry{}
	about := ""
	if ref.Kind == AlarmKind {
		if about = aboutOne(is.Settings, scope, f); about != "" {
			for key, value := range decodeDimensions(is.Settings["dimensions"]) {
				out = append(out, entry{map[string]string{"QueueName": "queue", "TopicName": "topic"}[key], value})
			}
		}
	}
	for i := range kindSettings[ref.Kind] {
		s := &kindSettings[ref.Kind][i]
		if s.name == permission || about != "" && (s.name == "namespace" || s.name == "dimensions") {
			continue
		}
		if value, ok := s.export(is, scope, f); ok {
			out = append(out, entry{s.name, value})
		}
	}
	if ref.Kind == TopicKind {
		if all := f.subscriptionsOf(ref, scope); len(all) > 0 {
			out = append(out, entry{"subscriptions", all})
		}
	}
	return out
}

// aboutOne reports whether an alarm is about one queue or topic, and returns the word for it.
func aboutOne(s Settings, scope Scope, f Found) string {
	of := decodeDimensions(s["dimensions"])
	if len(of) != 1 {
		return ""
	}
	switch {
	case s["namespace"] == "AWS/SQS" && of["QueueName"] != "":
		return "queue"
	case s["namespace"] == "AWS/SNS" && of["TopicName"] != "":
		return "topic"
	}
	return ""
}

// export returns the value of a setting in the form of the file; ok is false if the resource does not set it.
func (s *setting) export(is *Actual, scope Scope, f Found) (any, bool) {
	switch s.form {
	case whole:
		var out []any
		for _, one := range slices.Sorted(maps.Keys(is.Settings.under(s.name))) {
			out = append(out, s.shownIn(scope, one, f))
		}
		return out, out != nil
	case entries:
		var out []entry
		under := is.Settings.under(s.name)
		for _, name := range slices.Sorted(maps.Keys(under)) {
			if s.name != "tags" || name != AppliedBy {
				out = append(out, entry{name, s.shape.shown(scope, under[name])})
			}
		}
		return out, out != nil
	}
	value, there := is.Settings[s.name]
	if !there || value == "" || s.standard != "" && s.shape.same(value, s.standard) {
		return nil, false
	}
	return s.shownIn(scope, value, f), true
}

// shownIn is shown, with the names of policies that are in the file.
func (s *setting) shownIn(scope Scope, value string, f Found) any {
	if s.shape == &managedShape {
		for ref, is := range f {
			if ref.Kind == PolicyKind && is.arn == value {
				return ref.Name
			}
		}
	}
	if arn, isText := s.shape.shown(scope, value).(string); isText && s.shape == &undeliveredShape {
		return f.present(scope, arn, QueueKind)
	}
	return f.withARNs(scope, s.shape.shown(scope, value), s.shape)
}

// present returns the name of a resource in the file, or else the ARN.
func (f Found) present(scope Scope, name string, k Kind) string {
	if strings.HasPrefix(name, "arn:") || f[newRef(scope, k, name)] != nil {
		return name
	}
	return newRef(scope, k, name).ARN("")
}

// withARNs replaces names of queues and topics that are not in the file with their ARNs.
func (f Found) withARNs(scope Scope, value any, of *shape) any {
	kind := QueueKind
	switch of {
	case &topicsShape:
		kind = TopicKind
	case &deadLettersShape, &redriveAllowShape:
	default:
		return value
	}
	switch v := value.(type) {
	case []any:
		for i := range v {
			if name, ok := v[i].(string); ok {
				v[i] = f.present(scope, name, kind)
			}
		}
	case []entry:
		for i := range v {
			if name, ok := v[i].value.(string); ok && v[i].name == "queue" {
				v[i].value = f.present(scope, name, kind)
			}
		}
	}
	return value
}

// subscriptionsOf returns the subscriptions of a topic in the form of the file.
func (f Found) subscriptionsOf(topic Ref, scope Scope) (all []any) {
	for _, ref := range slices.SortedFunc(maps.Keys(f), inOrder) {
		if ref.Kind != SubscriptionKind {
			continue
		}
		name, protocol, endpoint := ref.subscription()
		if name != topic.Name {
			continue
		}
		is := f[ref]
		var out []entry
		switch protocol {
		case "sqs":
			if queue, ok := refOfARN(endpoint); ok && f[queue] != nil && queue.Scope == scope {
				endpoint = queue.Name
			}
			out = append(out, entry{"queue", endpoint})
		case "http", "https":
			out = append(out, entry{"url", weburl.Masked(endpoint)})
		case "email", "email-json":
			out = append(out, entry{protocol, endpoint})
		default:
			out = append(out, entry{"protocol", protocol}, entry{"endpoint", endpoint})
		}
		for i := range kindSettings[SubscriptionKind] {
			s := &kindSettings[SubscriptionKind][i]
			if value, ok := s.export(is, scope, f); ok {
				out = append(out, entry{s.name, value})
			}
		}
		if !f.permitted(topic, ref) {
			out = append(out, entry{permission, plain("false")})
		}
		all = append(all, out)
	}
	return all
}

// permitted reports whether the queues of a subscription let the topic send.
func (f Found) permitted(topic, subscription Ref) bool {
	_, protocol, endpoint := subscription.subscription()
	targets := []string{undeliveredTarget(f[subscription].Settings["dead-letters"])}
	if protocol == "sqs" {
		targets = append(targets, endpoint)
	}
	for _, target := range targets {
		ref, ok := refOfARN(target)
		if !ok || f[ref] == nil {
			continue
		}
		if _, ok := f[ref].Settings[permission+"."+topic.ARN("")]; !ok {
			return false
		}
	}
	return true
}

// toYAML returns a value as a node.
func toYAML(v any) *yaml.Node {
	switch v := v.(type) {
	case []entry:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, e := range v {
			n.Content = append(n.Content, toYAML(e.name), toYAML(e.value))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, one := range v {
			n.Content = append(n.Content, toYAML(one))
		}
		return n
	case plain:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: fmt.Sprint(v)}
}

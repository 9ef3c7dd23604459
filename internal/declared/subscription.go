package declared

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/tool/weburl"
)

// grant is a queue's permission for a topic to send.
type grant struct{ queue, topic Ref }

// subscriptions reads the subscriptions of a topic.
func (f *fileReader) subscriptions(topic string, n *yaml.Node) {
	seen := make(map[string]bool)
	f.list(n, func(one *yaml.Node) {
		one = f.value(one)
		r := newResource(newRef(f.scope, SubscriptionKind, ""), one)
		protocol, endpoint, permitted := "", "", true
		to := func(p string) func(*yaml.Node) {
			return func(v *yaml.Node) {
				if protocol != "" {
					f.fail(
						f.value(v),
						"a subscription has one endpoint: want one of queue, url, email, email-json, or protocol and endpoint",
					)
				}
				protocol, endpoint = f.endpoint(p, v)
			}
		}
		if one.Kind == yaml.ScalarNode {
			to(likely(one.Value))(one)
		} else {
			f.settings(r, one, map[string]func(*yaml.Node){
				"queue": to("sqs"), "url": to("url"), "email": to("email"), "email-json": to("email-json"),
				"protocol":   func(v *yaml.Node) { protocol, _ = f.text(v, "a protocol") },
				"endpoint":   func(v *yaml.Node) { endpoint, _ = f.text(v, "an endpoint") },
				"permission": func(v *yaml.Node) { text, ok := boolShape.parse(f, v); permitted = ok && text == "true" },
			})
		}
		r.Name = topic + " " + protocol + " " + endpoint
		switch {
		case protocol == "" || endpoint == "" || strings.ContainsAny(protocol, " \t\n") || len(endpoint) > 2048:
			f.fail(one, "want an endpoint: queue, url, email, email-json, or protocol and endpoint")
			return
		case seen[r.Name]:
			f.fail(one, "this endpoint is subscribed twice")
			return
		}
		seen[r.Name] = true
		f.file.Resources = append(f.file.Resources, r)
		if permitted && protocol == "sqs" {
			f.grantTo(newRef(f.scope, TopicKind, topic), endpoint)
		}
		if permitted && r.Settings["dead-letters"] != "" {
			f.grantTo(newRef(f.scope, TopicKind, topic), undeliveredTarget(r.Settings["dead-letters"]))
		}
	})
}

// likely returns the endpoint that a text resembles.
func likely(text string) string {
	switch {
	case strings.Contains(text, "://"):
		return "url"
	case strings.Contains(text, "@"):
		return "email"
	}
	return "sqs"
}

// endpoint returns an endpoint in SNS's form.
func (f *fileReader) endpoint(protocol string, v *yaml.Node) (string, string) {
	text, ok := f.text(v, "an endpoint")
	if !ok {
		return "", ""
	}
	switch protocol {
	case "sqs":
		text, _ = f.arn(f.value(v), QueueKind, text)
	case "url":
		scheme, _, _ := strings.Cut(text, "://")
		if scheme != "http" && scheme != "https" {
			f.fail(f.value(v), "%s: want a URL with http or https", shorten(weburl.Masked(text)))
		}
		protocol = scheme
	}
	return protocol, text
}

func undeliveredTarget(policy string) string {
	target, _ := undeliveredShape.show(Scope{}, policy).(string)
	return target
}

// grantTo records that a topic needs permission to send to a queue, if the file has the queue.
func (f *fileReader) grantTo(topic Ref, queue string) {
	if ref, ok := refOfARN(queue); ok {
		if _, here := f.declared[ref]; here {
			f.grants = append(f.grants, &grant{ref, topic})
		}
	}
}

// grant adds the permissions for topics to the queues: to their policies in the file or, if it has none, as separate
// settings, so that the rest of the policy stays unchanged.
func (f *fileReader) grant() {
	queues := make(map[Ref]*Resource)
	for _, r := range f.file.Resources {
		queues[r.Ref] = r
	}
	for _, g := range f.grants {
		q := queues[g.queue]
		if q == nil {
			continue
		}
		statement := topicStatement(g.topic.ARN(""), g.queue.ARN(""))
		if document, there := q.Settings["policy"]; there {
			q.Settings["policy"] = addStatement(document, statement)
		} else {
			q.Settings[permission+"."+g.topic.ARN("")] = statement
		}
	}
}

// topicStatement returns the statement of a queue's policy that lets a topic send.
func topicStatement(topic, queue string) string {
	name := topic[strings.LastIndexByte(topic, ':')+1:]
	return encodeJSON(map[string]any{
		"Sid": "topic-" + strings.ReplaceAll(name, ".", "-"), "Effect": "Allow",
		"Principal": map[string]any{"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage", "Resource": queue,
		"Condition": map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": topic}},
	})
}

// nameless returns the canonical form of a statement without its name.
func nameless(statement any) string {
	var v any
	if decodeJSON(encodeJSON(statement), &v) != nil {
		return ""
	}
	if m, ok := v.(map[string]any); ok {
		delete(m, "Sid")
	}
	return canonicalPolicy(encodeJSON(map[string]any{"Statement": []any{v}}))
}

// addStatement adds a statement to a policy, unless the policy has it under any name. It creates a missing policy.
func addStatement(document, statement string) string {
	var added any
	if decodeJSON(statement, &added) != nil {
		return document
	}
	var v any
	p := map[string]any{"Version": "2012-10-17"}
	if document != "" && decodeJSON(document, &v) == nil {
		if was, ok := v.(map[string]any); ok {
			p = was
		}
	}
	statements := several(p["Statement"])
	taken := make(map[string]bool)
	for _, s := range statements {
		if nameless(s) == nameless(added) {
			return document
		}
		if m, ok := s.(map[string]any); ok {
			sid, _ := m["Sid"].(string)
			taken[sid] = true
		}
	}
	if m, ok := added.(map[string]any); ok {
		sid, _ := m["Sid"].(string)
		for n, base := 2, sid; taken[sid]; n++ {
			sid = fmt.Sprint(base, "-", n)
			m["Sid"] = sid
		}
	}
	p["Statement"] = append(statements, added)
	return encodeJSON(p)
}

// permittedTopics returns the statements of a queue's policy that let topics send, by topic.
func permittedTopics(document, queue string) map[string]string {
	var v any
	if document == "" || decodeJSON(document, &v) != nil {
		return nil
	}
	p, _ := v.(map[string]any)
	out := make(map[string]string)
	for _, s := range several(p["Statement"]) {
		m, _ := s.(map[string]any)
		condition, _ := m["Condition"].(map[string]any)
		equals, _ := condition["ArnEquals"].(map[string]any)
		topics := several(equals["aws:SourceArn"])
		if len(topics) != 1 {
			continue
		}
		topic, _ := topics[0].(string)
		if want := topicStatement(topic, queue); nameless(s) == nameless(decoded(want)) {
			out[topic] = want
		}
	}
	return out
}

func decoded(text string) any {
	var v any
	_ = decodeJSON(text, &v) // what is no JSON is nil, which equals nothing
	return v
}

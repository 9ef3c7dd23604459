package declared

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// queues implements the queues of SQS.
type queues struct {
	api     API
	session *Session
}

// passing are the attributes of a queue that are not settings.
var passing = []string{
	"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed",
	"CreatedTimestamp", "LastModifiedTimestamp", "QueueArn", "FifoQueue",
}

// SQS's codes for a missing queue, and for a name that cannot be reused yet.
var (
	noQueue         = []string{"QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"}
	deletedRecently = []string{"QueueDeletedRecently", "AWS.SimpleQueueService.QueueDeletedRecently"}
)

func (q queues) read(ctx context.Context, r Ref) (*Actual, error) {
	var found struct{ QueueUrl string }
	err := q.api.SQS(ctx, "GetQueueUrl", map[string]string{"QueueName": r.Name}, &found)
	if isRefusal(err, noQueue...) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var attributes struct{ Attributes map[string]string }
	in := map[string]any{"QueueUrl": found.QueueUrl, "AttributeNames": []string{"All"}}
	if err := q.api.SQS(ctx, "GetQueueAttributes", in, &attributes); err != nil {
		return nil, err
	}
	var tags struct{ Tags map[string]string }
	if err := q.api.SQS(ctx, "ListQueueTags", map[string]string{"QueueUrl": found.QueueUrl}, &tags); err != nil {
		return nil, err
	}
	is := &Actual{
		Ref:      r,
		url:      found.QueueUrl,
		arn:      attributes.Attributes["QueueArn"],
		Settings: make(Settings),
		messages: messagesOf(attributes.Attributes),
	}
	is.Settings.addAttributes(QueueKind, attributes.Attributes, passing)
	for topic, statement := range permittedTopics(attributes.Attributes["Policy"], is.arn) {
		is.Settings[permission+"."+topic] = statement
	}
	is.Settings.addTags(tags.Tags)
	return is, nil
}

// addAttributes adds attributes of the API, under the names of the file.
func (s Settings) addAttributes(k Kind, attributes map[string]string, not []string) {
	for name, value := range attributes {
		switch known := byAttribute(k, name); {
		case known != nil && value != "":
			s[known.name] = value
		case known == nil && !slices.Contains(not, name):
			s["attributes."+name] = value
		}
	}
}

func (s Settings) addTags(tags map[string]string) {
	for key, value := range tags {
		s[tagPrefix+key] = value
	}
}

// tagged returns the tags of a new resource.
func (s Settings) tagged(by string) map[string]string {
	tags := s.under("tags")
	tags[AppliedBy] = by
	return tags
}

// attributesOf returns settings in the form of the API's attributes.
func attributesOf(k Kind, settings Settings) map[string]string {
	out := make(map[string]string)
	for key, value := range settings {
		s := settingOf(k, key)
		switch {
		case s.attribute != "":
			out[s.attribute] = value
		case s.name == "attributes":
			out[strings.TrimPrefix(key, "attributes.")] = value
		}
	}
	return out
}

// changed returns the settings after the changes.
func changed(changes []Change) Settings {
	out := make(Settings)
	for _, c := range changes {
		if out[c.Setting] = ""; c.Is != nil {
			out[c.Setting] = *c.Is
		}
	}
	return out
}

// policyWith returns a policy with the statements that settings add to it; ok reports whether there is a policy to set.
func policyWith(policy string, settings Settings) (string, bool) {
	added := settings.under(permission)
	for _, topic := range slices.Sorted(maps.Keys(added)) {
		policy = addStatement(policy, added[topic])
	}
	return policy, len(added) > 0
}

func (q queues) create(ctx context.Context, r Ref, settings Settings, by string) error {
	attributes := attributesOf(QueueKind, settings)
	if strings.HasSuffix(r.Name, ".fifo") {
		attributes["FifoQueue"] = "true"
	}
	if policy, ok := policyWith(attributes["Policy"], settings); ok {
		attributes["Policy"] = policy
	}
	in := map[string]any{"QueueName": r.Name, "tags": settings.tagged(by)}
	if len(attributes) > 0 {
		in["Attributes"] = attributes
	}
	return q.session.createQueue(ctx, r, func() error { return q.api.SQS(ctx, "CreateQueue", in, nil) })
}

func (q queues) update(ctx context.Context, is *Actual, changes []Change) error {
	settings := changed(changes)
	attributes := attributesOf(QueueKind, settings)
	if policy, ok := policyWith(is.Settings["policy"], settings); ok {
		attributes["Policy"] = policy
	}
	if attributes["SqsManagedSseEnabled"] == "true" && is.Settings["kms-key"] != "" {
		attributes["KmsMasterKeyId"] = "" // SQS refuses both, and a file with both is refused before
	}
	if len(attributes) > 0 {
		if err := q.api.SQS(
			ctx, "SetQueueAttributes", map[string]any{"QueueUrl": is.url, "Attributes": attributes}, nil,
		); err != nil {
			return err
		}
	}
	if tags := settings.under("tags"); len(tags) > 0 {
		return q.api.SQS(ctx, "TagQueue", map[string]any{"QueueUrl": is.url, "Tags": tags}, nil)
	}
	return nil
}

// remove deletes a queue, unless it has received messages that the plan did not have.
func (q queues) remove(ctx context.Context, is *Actual) error {
	if is.messages.None() {
		now, err := q.read(ctx, is.Ref)
		if err != nil || now == nil {
			return err
		}
		if !now.messages.None() {
			return fmt.Errorf("it has %s now, and had none when the plan was made", now.messages)
		}
	}
	return q.api.SQS(ctx, "DeleteQueue", map[string]string{"QueueUrl": is.url}, nil)
}

func (q queues) list(ctx context.Context, s Scope) (refs []Ref, err error) {
	in := map[string]any{"MaxResults": 1000}
	for {
		var page struct {
			QueueUrls []string
			NextToken string
		}
		if err := q.api.SQS(ctx, "ListQueues", in, &page); err != nil {
			return nil, err
		}
		for _, url := range page.QueueUrls {
			refs = append(refs, newRef(s, QueueKind, url[strings.LastIndexByte(url, '/')+1:]))
		}
		if page.NextToken == "" {
			return refs, nil
		}
		in["NextToken"] = page.NextToken
	}
}

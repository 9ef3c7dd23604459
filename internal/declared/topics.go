package declared

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/weburl"
)

// topics implements the topics of SNS.
type topics struct{ api API }

// attributeMap is attributes in SNS's answers.
type attributeMap []struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

func (a attributeMap) asMap() map[string]string {
	out := make(map[string]string, len(a))
	for _, one := range a {
		out[one.Key] = one.Value
	}
	return out
}

// passingTopic are the attributes of a topic that are not settings.
var passingTopic = []string{
	"TopicArn", "Owner", "SubscriptionsConfirmed", "SubscriptionsPending", "SubscriptionsDeleted",
	"EffectiveDeliveryPolicy", "FifoTopic",
	"BeginningArchiveTime",
}

func (t topics) read(ctx context.Context, r Ref) (*Actual, error) {
	var found struct {
		Attributes attributeMap `xml:"GetTopicAttributesResult>Attributes>entry"`
	}
	is := &Actual{Ref: r, arn: r.ARN(""), Settings: make(Settings)}
	err := t.api.SNS(ctx, "GetTopicAttributes", &found, "TopicArn", is.arn)
	if isRefusal(err, "NotFound") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tags struct {
		Tags []struct{ Key, Value string } `xml:"ListTagsForResourceResult>Tags>member"`
	}
	if err := t.api.SNS(ctx, "ListTagsForResource", &tags, "ResourceArn", is.arn); err != nil {
		return nil, err
	}
	attributes := found.Attributes.asMap()
	if strings.Contains(attributes["Policy"], `"__default_policy_ID"`) && sameDocument(attributes["Policy"], defaultTopicPolicy(r)) {
		delete(attributes, "Policy")
	}
	is.Settings.addAttributes(TopicKind, attributes, passingTopic)
	for _, tag := range tags.Tags {
		is.Settings[tagPrefix+tag.Key] = tag.Value
	}
	return is, nil
}

func sameDocument(a, b string) bool { return documentShape.same(a, b) }

// defaultTopicPolicy is the policy of topics that set none: their account may use them.
func defaultTopicPolicy(r Ref) string {
	statement := map[string]any{
		"Sid": "__default_statement_ID", "Effect": "Allow", "Principal": map[string]any{"AWS": "*"},
		"Action": []string{
			"SNS:GetTopicAttributes", "SNS:SetTopicAttributes", "SNS:AddPermission", "SNS:RemovePermission",
			"SNS:DeleteTopic", "SNS:Subscribe", "SNS:ListSubscriptionsByTopic", "SNS:Publish",
		},
		"Resource":  r.ARN(""),
		"Condition": map[string]any{"StringEquals": map[string]any{"AWS:SourceOwner": r.Account}},
	}
	return encodeJSON(map[string]any{
		"Version": "2008-10-17", "Id": "__default_policy_ID", "Statement": []any{statement},
	})
}

// attributeParams returns attributes in SNS's form.
func attributeParams(attributes map[string]string) (params []string) {
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		at := fmt.Sprintf("Attributes.entry.%d.", i+1)
		params = append(params, at+"key", name, at+"value", attributes[name])
	}
	return params
}

// tagParams returns tags in the form of SNS and IAM.
func tagParams(tags map[string]string) (params []string) {
	for i, key := range slices.Sorted(maps.Keys(tags)) {
		at := fmt.Sprintf("Tags.member.%d.", i+1)
		params = append(params, at+"Key", key, at+"Value", tags[key])
	}
	return params
}

func (t topics) create(ctx context.Context, r Ref, settings Settings, by string) error {
	attributes := attributesOf(TopicKind, settings)
	if strings.HasSuffix(r.Name, ".fifo") {
		attributes["FifoTopic"] = "true"
	}
	params := slices.Concat([]string{"Name", r.Name}, attributeParams(attributes), tagParams(settings.tagged(by)))
	return t.api.SNS(ctx, "CreateTopic", nil, params...)
}

func (t topics) update(ctx context.Context, is *Actual, changes []Change) error {
	settings := changed(changes)
	attributes := attributesOf(TopicKind, settings)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		err := t.api.SNS(ctx, "SetTopicAttributes", nil,
			"TopicArn", is.arn, "AttributeName", name, "AttributeValue", attributes[name])
		if err != nil {
			return err
		}
	}
	if tags := settings.under("tags"); len(tags) > 0 {
		return t.api.SNS(ctx, "TagResource", nil, append([]string{"ResourceArn", is.arn}, tagParams(tags)...)...)
	}
	return nil
}

func (t topics) remove(ctx context.Context, is *Actual) error {
	return t.api.SNS(ctx, "DeleteTopic", nil, "TopicArn", is.arn)
}

func (t topics) list(ctx context.Context, s Scope) (refs []Ref, err error) {
	for token := []string(nil); ; {
		var page struct {
			Topics []string `xml:"ListTopicsResult>Topics>member>TopicArn"`
			Next   string   `xml:"ListTopicsResult>NextToken"`
		}
		if err := t.api.SNS(ctx, "ListTopics", &page, token...); err != nil {
			return nil, err
		}
		for _, arn := range page.Topics {
			refs = append(refs, newRef(s, TopicKind, arn[strings.LastIndexByte(arn, ':')+1:]))
		}
		if page.Next == "" {
			return refs, nil
		}
		token = []string{"NextToken", page.Next}
	}
}

// subscriptions implements the subscriptions of topics. They are identified by their endpoints.
type subscriptions struct {
	api     API
	session *Session
}

// subscribed is an entry of the list of subscriptions.
type subscribed struct{ SubscriptionArn, Protocol, Endpoint string }

// ofTopic returns the subscriptions of a topic without their settings. It reads them once.
func (s subscriptions) ofTopic(ctx context.Context, topic Ref) ([]*Actual, error) {
	if all, known := s.session.topics[topic]; known {
		return all, nil
	}
	all := []*Actual{}
	for token := []string(nil); ; {
		var page struct {
			Subscriptions []subscribed `xml:"ListSubscriptionsByTopicResult>Subscriptions>member"`
			Next          string       `xml:"ListSubscriptionsByTopicResult>NextToken"`
		}
		err := s.api.SNS(
			ctx, "ListSubscriptionsByTopic", &page, append([]string{"TopicArn", topic.ARN("")}, token...)...,
		)
		if isRefusal(err, "NotFound") {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, one := range page.Subscriptions {
			all = append(all, &Actual{
				Ref:     newRef(topic.Scope, SubscriptionKind, topic.Name+" "+one.Protocol+" "+one.Endpoint),
				arn:     one.SubscriptionArn,
				pending: !strings.HasPrefix(one.SubscriptionArn, "arn:"),
			})
		}
		if page.Next == "" {
			break
		}
		token = []string{"NextToken", page.Next}
	}
	s.session.topics[topic] = all
	return all, nil
}

func (s subscriptions) read(ctx context.Context, r Ref) (*Actual, error) {
	name, _, _ := r.subscription()
	all, err := s.ofTopic(ctx, newRef(r.Scope, TopicKind, name))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(a *Actual) bool { return weburl.Masked(a.Name) == weburl.Masked(r.Name) })
	if i < 0 {
		return nil, nil
	}
	is := *all[i]
	is.Ref, is.Settings = r, make(Settings)
	if is.pending {
		return &is, nil
	}
	var found struct {
		Attributes attributeMap `xml:"GetSubscriptionAttributesResult>Attributes>entry"`
	}
	if err := s.api.SNS(ctx, "GetSubscriptionAttributes", &found, "SubscriptionArn", is.arn); err != nil {
		return nil, err
	}
	attributes := found.Attributes.asMap()
	is.pending = strings.EqualFold(attributes["PendingConfirmation"], "true")
	is.Settings.addAttributes(SubscriptionKind, attributes, []string{
		"SubscriptionArn", "TopicArn", "Owner", "Protocol", "Endpoint", "PendingConfirmation",
		"ConfirmationWasAuthenticated", "EffectiveDeliveryPolicy",
		"SubscriptionPrincipal",
	})
	return &is, nil
}

func (s subscriptions) create(ctx context.Context, r Ref, settings Settings, _ string) error {
	name, protocol, endpoint := r.subscription()
	topic := newRef(r.Scope, TopicKind, name)
	if strings.Contains(endpoint, ":"+weburl.Mask+"@") {
		return errors.New("the password of its URL is left out, as in what export writes: put it in")
	}
	delete(s.session.topics, topic)
	params := []string{"TopicArn", topic.ARN(""), "Protocol", protocol, "Endpoint", endpoint}
	return s.api.SNS(ctx, "Subscribe", nil, append(params, attributeParams(attributesOf(SubscriptionKind, settings))...)...)
}

func (s subscriptions) update(ctx context.Context, is *Actual, changes []Change) error {
	attributes := attributesOf(SubscriptionKind, changed(changes))
	steps := filterSteps(is.Settings, attributes)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if name != filterPolicy && name != filterScope {
			steps = append(steps, attribute{name, attributes[name]})
		}
	}
	for _, step := range steps {
		err := s.api.SNS(
			ctx,
			"SetSubscriptionAttributes",
			nil,
			"SubscriptionArn",
			is.arn,
			"AttributeName",
			step.name,
			"AttributeValue",
			step.value,
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s subscriptions) remove(ctx context.Context, is *Actual) error {
	if is.pending {
		return nil // it ends by itself, and cannot be named
	}
	return s.api.SNS(ctx, "Unsubscribe", nil, "SubscriptionArn", is.arn)
}

func (s subscriptions) list(ctx context.Context, scope Scope) (refs []Ref, err error) {
	all, err := topics{s.api}.list(ctx, scope)
	if err != nil {
		return nil, err
	}
	for _, topic := range all {
		some, err := s.ofTopic(ctx, topic)
		if err != nil {
			return nil, err
		}
		for _, one := range some {
			refs = append(refs, one.Ref)
		}
	}
	return refs, nil
}

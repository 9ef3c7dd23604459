package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/signature"
	"github.com/sluicemq/sluice/internal/proof/history"
)

// Registry is the part of a service that stores resources. Its errors are like those of Service.
type Registry interface {
	// Make makes a resource, in that state, and returns its ARN if only the service knows it.
	Make(r Resource, s State) (arn string, err error)
	// Change changes a resource from one state to another, which differ in one number.
	Change(r Resource, from, to State) error
	// Delete deletes a resource. A user must no longer have a policy or an access key.
	Delete(r Resource) error
	// Find returns the state of a resource as a word; it is empty if there is none.
	Find(r Resource) (string, error)

	// MakeKey makes an access key for a user.
	MakeKey(user string) (Key, error)
	DeleteKey(user string, k Key) error
	// FindKey returns the user whose calls are signed with a key, or nothing.
	FindKey(k Key) (user string, err error)
}

// Kind is a kind of resource.
type Kind string

// The kinds.
const (
	QueueKind        Kind = "queue"
	TopicKind        Kind = "topic"
	SubscriptionKind Kind = "subscription"
	UserKind         Kind = "user"
)

// Resource is something that a registry keeps.
type Resource struct {
	Kind  Kind
	Name  string
	Topic string // of a subscription
	ARN   string // of a subscription that was made
}

// String returns the name of the resource in histories. Queues have their own.
func (r Resource) String() string {
	if r.Kind == QueueKind {
		return r.Name
	}
	return string(r.Kind) + "/" + r.Name
}

// State is the part of a resource that can be changed: a number in an attribute or policy, and another in a tag.
// Subscriptions have no tags.
type State struct{ Attribute, Tag int }

func (s State) String() string { return fmt.Sprintf("attribute %d, tag %d", s.Attribute, s.Tag) }

// Key is an access key.
type Key struct{ ID, Secret string }

const (
	tagName    = "version"
	policyName = "version"
	// leastRetention is the retention of a queue, in seconds, whose attribute is 0. It is longer than any run.
	leastRetention = 4 * 24 * 60 * 60
)

const (
	snsVersion = "2010-03-31"
	iamVersion = "2010-05-08"
	stsVersion = "2011-06-15"
)

func (c *Client) iam(operation string, form url.Values, out any) error {
	return c.query(&Root, "iam", iamVersion, operation, form, out)
}

func policyOf(attribute int) string {
	return fmt.Sprintf(
		`{"Version":"2012-10-17","Statement":[{"Sid":"v%d","Effect":"Allow","Action":"sqs:ListQueues","Resource":"*"}]}`,
		attribute,
	)
}

func filterOf(attribute int) string { return fmt.Sprintf(`{"version":["%d"]}`, attribute) }

func tagsIn(s State) url.Values {
	return url.Values{"Tags.member.1.Key": {tagName}, "Tags.member.1.Value": {strconv.Itoa(s.Tag)}}
}

func with(form url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// Make implements Registry.
func (c *Client) Make(r Resource, s State) (arn string, err error) {
	if r.Kind == SubscriptionKind {
		return c.makeSubscription(r, s)
	}
	return "", c.make(r, s)
}

// makeSubscription makes a subscription, or finds the same one.
func (c *Client) makeSubscription(r Resource, s State) (arn string, err error) {
	var out struct {
		ARN string `xml:"SubscribeResult>SubscriptionArn"`
	}
	err = c.Notify("Subscribe", with(
		url.Values{}, "TopicArn", TopicARN(r.Topic), "Protocol", "sqs", "Endpoint", ARN(r.Name),
		"Attributes.entry.1.key", "FilterPolicy", "Attributes.entry.1.value", filterOf(s.Attribute),
	), &out)
	return out.ARN, err
}

func (c *Client) make(r Resource, s State) error {
	switch r.Kind {
	case QueueKind:
		attributes := map[string]string{"MessageRetentionPeriod": strconv.Itoa(leastRetention + s.Attribute)}
		if history.IsFIFO(r.Name) {
			attributes["FifoQueue"] = "true"
		}
		return c.Call("CreateQueue", Object{
			"QueueName": r.Name, "Attributes": attributes, "tags": map[string]string{tagName: strconv.Itoa(s.Tag)},
		}, nil)
	case TopicKind:
		return c.Notify("CreateTopic", with(tagsIn(s), "Name", r.Name,
			"Attributes.entry.1.key", "DisplayName", "Attributes.entry.1.value", strconv.Itoa(s.Attribute)), nil)
	}
	return c.iam("CreateUser", with(tagsIn(s), "UserName", r.Name), nil)
}

// Change implements Registry.
func (c *Client) Change(r Resource, from, to State) error {
	attribute, tag := strconv.Itoa(to.Attribute), strconv.Itoa(to.Tag)
	switch retag := from.Tag != to.Tag; {
	case r.Kind == QueueKind && retag:
		return c.Call("TagQueue", Object{"QueueUrl": c.URL(r.Name), "Tags": map[string]string{tagName: tag}}, nil)
	case r.Kind == QueueKind:
		return c.Call("SetQueueAttributes", Object{"QueueUrl": c.URL(r.Name), "Attributes": map[string]string{
			"MessageRetentionPeriod": strconv.Itoa(leastRetention + to.Attribute),
		}}, nil)
	case r.Kind == TopicKind && retag:
		return c.Notify("TagResource", with(tagsIn(to), "ResourceArn", TopicARN(r.Name)), nil)
	case r.Kind == TopicKind:
		return c.Notify("SetTopicAttributes", with(url.Values{}, "TopicArn", TopicARN(r.Name),
			"AttributeName", "DisplayName", "AttributeValue", attribute), nil)
	case r.Kind == SubscriptionKind:
		return c.Notify("SetSubscriptionAttributes", with(url.Values{}, "SubscriptionArn", r.ARN,
			"AttributeName", "FilterPolicy", "AttributeValue", filterOf(to.Attribute)), nil)
	case retag:
		return c.iam("TagUser", with(tagsIn(to), "UserName", r.Name), nil)
	case to.Attribute == 0:
		return c.iam("DeleteUserPolicy", with(url.Values{}, "UserName", r.Name, "PolicyName", policyName), nil)
	}
	return c.iam("PutUserPolicy", with(url.Values{}, "UserName", r.Name, "PolicyName", policyName,
		"PolicyDocument", policyOf(to.Attribute)), nil)
}

// Delete implements Registry.
func (c *Client) Delete(r Resource) error {
	switch r.Kind {
	case QueueKind:
		return c.Drop(r.Name)
	case TopicKind:
		return c.Notify("DeleteTopic", url.Values{"TopicArn": {TopicARN(r.Name)}}, nil)
	case SubscriptionKind:
		return c.Notify("Unsubscribe", url.Values{"SubscriptionArn": {r.ARN}}, nil)
	}
	return c.iam("DeleteUser", url.Values{"UserName": {r.Name}}, nil)
}

// subscription returns the ARN of a subscription, as far as the node knows it.
func (c *Client) subscription(r Resource) (string, error) {
	var out struct {
		Members []struct {
			Endpoint        string
			SubscriptionArn string
		} `xml:"ListSubscriptionsByTopicResult>Subscriptions>member"`
	}
	if err := c.Notify("ListSubscriptionsByTopic", url.Values{"TopicArn": {TopicARN(r.Topic)}}, &out); err != nil {
		return "", err
	}
	for _, m := range out.Members {
		if m.Endpoint == ARN(r.Name) {
			return m.SubscriptionArn, nil
		}
	}
	return "", history.Missing
}

// Find implements Registry.
func (c *Client) Find(r Resource) (string, error) {
	s, err := c.find(r)
	if errors.Is(err, history.Missing) || errors.Is(err, history.NoQueue) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

func (c *Client) find(r Resource) (s State, err error) {
	switch r.Kind {
	case QueueKind:
		return c.findQueue(r)
	case TopicKind:
		return c.findTopic(r)
	case SubscriptionKind:
		return c.findSubscription(r)
	}
	return c.findUser(r)
}

func (c *Client) findQueue(r Resource) (s State, err error) {
	var out struct{ Attributes, Tags map[string]string }
	in := Object{"QueueUrl": c.URL(r.Name), "AttributeNames": []string{"MessageRetentionPeriod"}}
	if err := c.Call("GetQueueAttributes", in, &out); err != nil {
		return s, err
	}
	if err := c.Call("ListQueueTags", Object{"QueueUrl": c.URL(r.Name)}, &out); err != nil {
		return s, err
	}
	if s.Attribute, err = strconv.Atoi(out.Attributes["MessageRetentionPeriod"]); err != nil {
		return s, err
	}
	s.Attribute -= leastRetention
	s.Tag, err = strconv.Atoi(out.Tags[tagName])
	return s, err
}

// pair is an attribute or a tag.
type pair struct {
	Key   string
	Value string
}

func numberIn(pairs []pair, key string) (int, error) {
	for _, p := range pairs {
		if strings.EqualFold(p.Key, key) {
			return strconv.Atoi(p.Value)
		}
	}
	return 0, fmt.Errorf("there is no %s", key)
}

func (c *Client) findTopic(r Resource) (s State, err error) {
	var out struct {
		Attributes []struct {
			Key   string `xml:"key"`
			Value string `xml:"value"`
		} `xml:"GetTopicAttributesResult>Attributes>entry"`
		Tags []pair `xml:"ListTagsForResourceResult>Tags>member"`
	}
	if err := c.Notify("GetTopicAttributes", url.Values{"TopicArn": {TopicARN(r.Name)}}, &out); err != nil {
		return s, err
	}
	if err := c.Notify("ListTagsForResource", url.Values{"ResourceArn": {TopicARN(r.Name)}}, &out); err != nil {
		return s, err
	}
	var attributes []pair
	for _, a := range out.Attributes {
		attributes = append(attributes, pair(a))
	}
	if s.Attribute, err = numberIn(attributes, "DisplayName"); err != nil {
		return s, err
	}
	s.Tag, err = numberIn(out.Tags, tagName)
	return s, err
}

func (c *Client) findSubscription(r Resource) (s State, err error) {
	arn, err := c.subscription(r)
	if err != nil {
		return s, err
	}
	var out struct {
		Attributes []struct {
			Key   string `xml:"key"`
			Value string `xml:"value"`
		} `xml:"GetSubscriptionAttributesResult>Attributes>entry"`
	}
	if err := c.Notify("GetSubscriptionAttributes", url.Values{"SubscriptionArn": {arn}}, &out); err != nil {
		return s, err
	}
	for _, a := range out.Attributes {
		if a.Key == "FilterPolicy" {
			var filter struct{ Version []string }
			if err := json.Unmarshal([]byte(a.Value), &filter); err != nil || len(filter.Version) != 1 {
				return s, fmt.Errorf("a filter policy %q", a.Value)
			}
			s.Attribute, err = strconv.Atoi(filter.Version[0])
			return s, err
		}
	}
	return s, errors.New("there is no filter policy")
}

func (c *Client) findUser(r Resource) (s State, err error) {
	var out struct {
		Tags     []pair `xml:"ListUserTagsResult>Tags>member"`
		Document string `xml:"GetUserPolicyResult>PolicyDocument"`
	}
	if err := c.iam("ListUserTags", url.Values{"UserName": {r.Name}}, &out); err != nil {
		return s, err
	}
	if s.Tag, err = numberIn(out.Tags, tagName); err != nil {
		return s, err
	}
	err = c.iam("GetUserPolicy", with(url.Values{}, "UserName", r.Name, "PolicyName", policyName), &out)
	if errors.Is(err, history.Missing) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	document, err := url.QueryUnescape(out.Document)
	if err != nil {
		return s, err
	}
	var policy struct{ Statement []struct{ Sid string } }
	if err := json.Unmarshal([]byte(document), &policy); err != nil || len(policy.Statement) != 1 {
		return s, fmt.Errorf("a policy %q", document)
	}
	s.Attribute, err = strconv.Atoi(strings.TrimPrefix(policy.Statement[0].Sid, "v"))
	return s, err
}

// MakeKey implements Registry.
func (c *Client) MakeKey(user string) (Key, error) {
	var out struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	err := c.iam("CreateAccessKey", url.Values{"UserName": {user}}, &out)
	return Key(out), err
}

// DeleteKey implements Registry.
func (c *Client) DeleteKey(user string, k Key) error {
	return c.iam("DeleteAccessKey", with(url.Values{}, "UserName", user, "AccessKeyId", k.ID), nil)
}

// FindKey implements Registry.
func (c *Client) FindKey(k Key) (user string, err error) {
	var out struct {
		ARN string `xml:"GetCallerIdentityResult>Arn"`
	}
	signer := &signature.Signer{AccessKeyID: k.ID, Secret: k.Secret, Region: region}
	err = c.query(signer, "sts", stsVersion, "GetCallerIdentity", url.Values{}, &out)
	if errors.Is(err, history.Missing) {
		return "", nil
	}
	_, user, _ = strings.Cut(out.ARN, ":user/")
	return user, err
}

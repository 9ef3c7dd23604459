package sqs

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/tool/plainjson"
)

const (
	maxReceiveCount = 1000
	maxSources      = 10

	allowAll = "allowAll"
	denyAll  = "denyAll"
	byQueue  = "byQueue"
)

// setRedrive sets a RedrivePolicy, after checking that the dead-letter queue exists, is of the same type, and allows
// this queue. The empty string removes the policy.
func (c *attributeChange) setRedrive(value string) error {
	c.attrs.Redrive = nil
	if value == "" {
		return nil
	}
	refuse := func(reason string) error { return errValue(value, attrRedrive, reason) }
	p, ok := members(value)
	if !ok {
		return refuse("Redrive policy is not a valid JSON map.")
	}
	for _, name := range []string{"deadLetterTargetArn", "maxReceiveCount"} {
		if p[name] == nil {
			return refuse("Redrive policy does not contain mandatory attribute: " + name + ".")
		}
	}
	var target, text string
	if json.Unmarshal(p["deadLetterTargetArn"], &target) != nil {
		return refuse("Only SQS queues are valid resources for deadLetterTargetArn.")
	}
	if json.Unmarshal(p["maxReceiveCount"], &text) != nil { // "5" is as good as 5
		text = string(p["maxReceiveCount"])
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxReceiveCount {
		return refuse(
			"Invalid value for maxReceiveCount: " + service.Shorten(
				text,
			) + ", valid values are from 1 to 1000 both inclusive.",
		)
	}
	dlq, ok := service.ParseQueueARN(target)
	switch {
	case !ok:
		return refuse("Only SQS queues are valid resources for deadLetterTargetArn.")
	case dlq.Account != c.name.Account:
		return refuse("Dead-letter target owner should be same as the source.")
	case dlq.Region != c.name.Region:
		return refuse("Dead-letter target must be in the same region as the source.")
	}
	if dlq != c.name {
		q := c.findQueue(dlq)
		switch {
		case q == nil:
			return refuse("Dead letter target does not exist.")
		case q.Attributes.FIFO != c.attrs.FIFO:
			return refuse("Dead-letter queue must be same type of queue as the source..")
		case !allowsSource(q.Attributes.RedriveAllow, c.name.ARN()):
			return refuse("The redrive allow policy of the dead-letter queue does not allow this source queue.")
		}
	}
	// The ARN is stored with the partition aws, even if the client named another.
	c.attrs.Redrive = &catalog.Redrive{Target: dlq.ARN(), MaxReceiveCount: n}
	return nil
}

// allowsSource reports whether a dead-letter queue with this RedriveAllowPolicy accepts dead letters of the queue
// source.
func allowsSource(a *catalog.RedriveAllow, source string) bool {
	switch {
	case a == nil, a.Permission == allowAll:
		return true
	case a.Permission == byQueue:
		return slices.Contains(a.Sources, source)
	}
	return false
}

func formatRedrive(r *catalog.Redrive) string {
	if r == nil {
		return ""
	}
	return mustJSON(struct {
		Target string `json:"deadLetterTargetArn"`
		Count  int    `json:"maxReceiveCount"`
	}{r.Target, r.MaxReceiveCount})
}

// setRedriveAllow sets a RedriveAllowPolicy. The empty string removes it.
func (c *attributeChange) setRedriveAllow(value string) error {
	c.attrs.RedriveAllow = nil
	if value == "" {
		return nil
	}
	refuse := func(reason string) error { return errValue(value, attrRedriveAllow, reason) }
	p, ok := members(value)
	if !ok {
		return refuse("Redrive allow policy is not a valid JSON map.")
	}
	var permission string
	var sources []string
	if raw := p["redrivePermission"]; raw != nil && json.Unmarshal(raw, &permission) != nil {
		return refuse("Amazon SQS can't create the redrive allow policy. The redrivePermission must be a string.")
	}
	if raw := p["sourceQueueArns"]; raw != nil && json.Unmarshal(raw, &sources) != nil {
		return refuse("Amazon SQS can't create the redrive allow policy. The sourceQueueArns must be a list of strings.")
	}
	switch permission {
	case byQueue:
		if len(sources) == 0 {
			return refuse(
				"Amazon SQS can't create the redrive allow policy. When you specify the byQueue permission type, you must also specify one or more sourceQueueArns values.",
			)
		}
		if len(sources) > maxSources {
			return refuse("Amazon SQS can't create the redrive allow policy. You can specify at most 10 sourceQueueArns values.")
		}
		for _, arn := range sources {
			if _, ok := service.ParseQueueARN(arn); !ok {
				return refuse(
					"Amazon SQS can't create the redrive allow policy. Every one of sourceQueueArns must be the ARN of an SQS queue.",
				)
			}
		}
	case allowAll, denyAll:
		if len(sources) > 0 {
			return refuse(
				"Amazon SQS can't create the redrive allow policy. To specify one or more source queue ARNs, you must set redrivePermission to byQueue.",
			)
		}
	default:
		return refuse("Amazon SQS can't create the redrive allow policy. The redrivePermission must be allowAll, denyAll or byQueue.")
	}
	c.attrs.RedriveAllow = &catalog.RedriveAllow{Permission: permission, Sources: sources}
	return nil
}

func formatRedriveAllow(r *catalog.RedriveAllow) string {
	if r == nil {
		return ""
	}
	return mustJSON(struct {
		Permission string   `json:"redrivePermission"`
		Sources    []string `json:"sourceQueueArns,omitempty"`
	}{r.Permission, r.Sources})
}

// members returns the members of a JSON object by name. Names are compared exactly, unlike in encoding/json's structs,
// and null counts as absent.
func members(object string) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &m) != nil || m == nil {
		return nil, false
	}
	maps.DeleteFunc(m, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	return m, true
}

// mustJSON returns the JSON of a value that always has one. It does not escape HTML characters.
func mustJSON(v any) string {
	b, err := plainjson.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

package sqs

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/protocol"
)

const (
	maxReceiveCount = 1000
	maxSources      = 10

	allowAll = "allowAll"
	denyAll  = "denyAll"
	byQueue  = "byQueue"
)

// redrive reads a RedrivePolicy and makes sure that its dead-letter queue
// exists, fits, and admits this queue. The empty string removes the policy.
func (c *change) redrive(value string) (*catalog.Redrive, *protocol.Error) {
	if value == "" {
		return nil, nil
	}
	refuse := func(reason string) (*catalog.Redrive, *protocol.Error) {
		return nil, errValue(value, attrRedrive, reason)
	}
	var p struct {
		Target *string         `json:"deadLetterTargetArn"`
		Count  json.RawMessage `json:"maxReceiveCount"`
	}
	if err := json.Unmarshal([]byte(value), &p); err != nil {
		return refuse("Redrive policy is not a valid JSON map.")
	}
	if p.Target == nil {
		return refuse("Redrive policy does not contain mandatory attribute: deadLetterTargetArn.")
	}
	if p.Count == nil {
		return refuse("Redrive policy does not contain mandatory attribute: maxReceiveCount.")
	}
	text := string(p.Count)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted // "5" is as good as 5
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxReceiveCount {
		return refuse("Invalid value for maxReceiveCount: " + shorten(text) + ", valid values are from 1 to 1000 both inclusive.")
	}
	dlq, ok := parseARN(*p.Target)
	switch {
	case !ok:
		return refuse("Only SQS queues are valid resources for deadLetterTargetArn.")
	case dlq.Account != c.name.Account:
		return refuse("Dead-letter target owner should be same as the source.")
	case dlq.Region != c.name.Region:
		return refuse("Dead-letter target must be in the same region as the source.")
	}
	if dlq != c.name {
		q := c.queueAt(dlq)
		switch {
		case q == nil:
			return refuse("Dead letter target does not exist.")
		case q.Attributes.FIFO != c.attrs.FIFO:
			return refuse("Dead-letter queue must be same type of queue as the source..")
		case !admits(q.Attributes.RedriveAllow, c.name.ARN()):
			return refuse("The redrive allow policy of the dead-letter queue does not allow this source queue.")
		}
	}
	// The ARN is kept in our own spelling, whatever partition the client's had.
	return &catalog.Redrive{Target: dlq.ARN(), MaxReceiveCount: n}, nil
}

func admits(a *catalog.RedriveAllow, source string) bool {
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

// redriveAllow reads a RedriveAllowPolicy. The empty string removes it.
func redriveAllow(value string) (*catalog.RedriveAllow, *protocol.Error) {
	if value == "" {
		return nil, nil
	}
	refuse := func(reason string) (*catalog.RedriveAllow, *protocol.Error) {
		return nil, errValue(value, attrRedriveAllow, reason)
	}
	var p struct {
		Permission string   `json:"redrivePermission"`
		Sources    []string `json:"sourceQueueArns"`
	}
	if err := json.Unmarshal([]byte(value), &p); err != nil {
		return refuse("Redrive allow policy is not a valid JSON map.")
	}
	switch p.Permission {
	case byQueue:
		if len(p.Sources) == 0 {
			return refuse("Amazon SQS can't create the redrive allow policy. When you specify the byQueue permission type, you must also specify one or more sourceQueueArns values.")
		}
		if len(p.Sources) > maxSources {
			return refuse("Amazon SQS can't create the redrive allow policy. You can specify at most 10 sourceQueueArns values.")
		}
		for _, arn := range p.Sources {
			if _, ok := parseARN(arn); !ok {
				return refuse("Amazon SQS can't create the redrive allow policy. Every one of sourceQueueArns must be the ARN of an SQS queue.")
			}
		}
	case allowAll, denyAll:
		if len(p.Sources) > 0 {
			return refuse("Amazon SQS can't create the redrive allow policy. To specify one or more source queue ARNs, you must set redrivePermission to byQueue.")
		}
	default:
		return refuse("Amazon SQS can't create the redrive allow policy. The redrivePermission must be allowAll, denyAll or byQueue.")
	}
	return &catalog.RedriveAllow{Permission: p.Permission, Sources: p.Sources}, nil
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

// mustJSON is for values that always have a JSON form.
func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

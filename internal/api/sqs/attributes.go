package sqs

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// Limits and defaults of queue attributes, in seconds and bytes.
const (
	maxDelay           = 900
	minMessageSize     = 1024
	maxMessageSize     = 1_048_576
	DefaultMessageSize = 262_144
	minRetention       = 60
	maxRetention       = 1_209_600
	defaultRetention   = 345_600
	maxWait            = 20
	maxVisibility      = 43_200
	defaultVisibility  = 30
	minKMSReuse        = 60
	maxKMSReuse        = 86_400
	defaultKMSReuse    = 300
	maxKMSKey          = 2048
)

// Names of queue attributes.
const (
	attrDelay        = "DelaySeconds"
	attrMaxSize      = "MaximumMessageSize"
	attrRetention    = "MessageRetentionPeriod"
	attrWait         = "ReceiveMessageWaitTimeSeconds"
	attrVisibility   = "VisibilityTimeout"
	attrPolicy       = "Policy"
	attrRedrive      = "RedrivePolicy"
	attrRedriveAllow = "RedriveAllowPolicy"
	attrKMSKey       = "KmsMasterKeyId"
	attrKMSReuse     = "KmsDataKeyReusePeriodSeconds"
	attrManagedSSE   = "SqsManagedSseEnabled"
	attrFIFO         = "FifoQueue"
	attrContentDedup = "ContentBasedDeduplication"
	attrDedupScope   = "DeduplicationScope"
	attrThroughput   = "FifoThroughputLimit"
	attrVisible      = "ApproximateNumberOfMessages"
	attrNotVisible   = "ApproximateNumberOfMessagesNotVisible"
	attrDelayed      = "ApproximateNumberOfMessagesDelayed"
	attrCreated      = "CreatedTimestamp"
	attrModified     = "LastModifiedTimestamp"
	attrARN          = "QueueArn"
	attrAll          = "All"
	scopeQueue       = "queue"
	scopeGroup       = "messageGroup"
	throughputQueue  = "perQueue"
	throughputGroup  = "perMessageGroupId"
)

// defaults returns the attributes of a queue with defaults only.
func (r *records) defaults(fifo bool) catalog.Attributes {
	a := catalog.Attributes{
		MaximumMessageSize: r.maxMessageSize, RetentionSeconds: defaultRetention,
		VisibilitySeconds: defaultVisibility, ManagedSSE: true, FIFO: fifo,
	}
	if fifo {
		a.DedupScope, a.Throughput = scopeQueue, throughputQueue
	}
	return a
}

// format returns the attributes in their text form, without those that are not set.
func format(a *catalog.Attributes) map[string]string {
	out := map[string]string{
		attrDelay:      strconv.Itoa(a.DelaySeconds),
		attrMaxSize:    strconv.Itoa(a.MaximumMessageSize),
		attrRetention:  strconv.Itoa(a.RetentionSeconds),
		attrWait:       strconv.Itoa(a.WaitSeconds),
		attrVisibility: strconv.Itoa(a.VisibilitySeconds),
		attrManagedSSE: strconv.FormatBool(a.ManagedSSE),
	}
	optional := func(name, value string, set bool) {
		if set {
			out[name] = value
		}
	}
	optional(attrPolicy, a.Policy, a.Policy != "")
	optional(attrRedrive, formatRedrive(a.Redrive), a.Redrive != nil)
	optional(attrRedriveAllow, formatRedriveAllow(a.RedriveAllow), a.RedriveAllow != nil)
	optional(attrKMSKey, a.KMSKey, a.KMSKey != "")
	reuse := a.KMSReuse
	if reuse == 0 {
		reuse = defaultKMSReuse
	}
	optional(attrKMSReuse, strconv.Itoa(reuse), a.KMSKey != "")
	optional(attrFIFO, "true", a.FIFO)
	optional(attrContentDedup, strconv.FormatBool(a.ContentDedup), a.FIFO)
	optional(attrDedupScope, a.DedupScope, a.FIFO)
	optional(attrThroughput, a.Throughput, a.FIFO)
	return out
}

// isAttribute reports whether a queue can have an attribute of that name.
func isAttribute(name string) bool {
	switch name {
	case attrDelay, attrMaxSize, attrRetention, attrWait, attrVisibility, attrPolicy, attrRedrive,
		attrRedriveAllow, attrKMSKey, attrKMSReuse, attrManagedSSE, attrFIFO, attrContentDedup,
		attrDedupScope, attrThroughput, attrVisible, attrNotVisible, attrDelayed, attrCreated,
		attrModified, attrARN, attrAll:
		return true
	}
	return false
}

type getQueueAttributesInput struct {
	QueueUrl       string   `max:"2048"`
	AttributeNames []string `max:"100,256" query:"AttributeName"`
}

type getQueueAttributesOutput struct {
	Attributes map[string]string `query:"Attribute" entry:"Name,Value"`
}

func (s *Service) getQueueAttributes(
	ctx context.Context,
	c *protocol.Call,
	in *getQueueAttributesInput,
) (*getQueueAttributesOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:GetQueueAttributes")
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(in.AttributeNames))
	for _, name := range in.AttributeNames {
		name = strings.TrimSuffix(name, ";") // as the guide's example has it
		if !isAttribute(name) {
			return nil, errUnknownAttribute(service.Shorten(name))
		}
		wanted[name] = true
	}
	if len(wanted) == 0 {
		s.shard.Used(q.ID)
		return nil, nil
	}
	all := format(&q.Attributes)
	if service.Caller(c).Account != q.Name.Account { // only the owner's account may read the policy
		if wanted[attrPolicy] {
			return nil, errPolicyOfOther(c, q)
		}
		delete(all, attrPolicy)
	}
	all[attrARN] = q.Name.ARN()
	all[attrCreated] = strconv.FormatInt(q.Created.Unix(), 10)
	all[attrModified] = strconv.FormatInt(q.Modified.Unix(), 10)
	if wanted[attrAll] || wanted[attrVisible] || wanted[attrNotVisible] || wanted[attrDelayed] {
		counts, err := s.shard.Counts(ctx, q.ID)
		if err != nil {
			return nil, failure(err, q)
		}
		all[attrVisible] = strconv.FormatUint(counts.Visible, 10)
		all[attrNotVisible] = strconv.FormatUint(counts.InFlight, 10)
		all[attrDelayed] = strconv.FormatUint(counts.Delayed, 10)
	} else {
		s.shard.Used(q.ID)
	}
	if !wanted[attrAll] {
		maps.DeleteFunc(all, func(name, _ string) bool { return !wanted[name] })
	}
	return &getQueueAttributesOutput{Attributes: all}, nil
}

// errPolicyOfOther refuses the policy of a queue to a caller of another account.
func errPolicyOfOther(c *protocol.Call, q *catalog.Queue) *protocol.Error {
	who := service.Caller(c).ARN
	if service.Anonymous(c) {
		who = "anonymous"
	}
	return protocol.AccessDenied(
		"User: %s is not authorized to perform: sqs:getqueueattributes on resource: %s because the attribute Policy is shown to the queue's owner only",
		who,
		q.Name.ARN(),
	)
}

type setQueueAttributesInput struct {
	QueueUrl   string            `max:"2048"`
	Attributes map[string]string `max:"100,256,64K" query:"Attribute" entry:"Name,Value"`
}

func (s *Service) setQueueAttributes(
	ctx context.Context, c *protocol.Call, in *setQueueAttributesInput,
) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:SetQueueAttributes")
	if err != nil {
		return nil, err
	}
	if len(in.Attributes) == 0 {
		return nil, protocol.MissingParameter("Attribute.Name")
	}
	return nil, s.records.updateAttributes(ctx, q, func(q *catalog.Queue) error {
		if err := s.records.change(q.Name, &q.Attributes, in.Attributes).apply(); err != nil {
			return err
		}
		return checkSpread(q)
	})
}

package sqs

import (
	"strconv"

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
	fifoSuffix       = ".fifo"
	maxNameLength    = 80
)

// newAttributes returns the attributes of a queue that sets none.
func (s *Service) newAttributes(fifo bool) catalog.Attributes {
	a := catalog.Attributes{
		MaximumMessageSize: s.maxMessageSize, RetentionSeconds: defaultRetention,
		VisibilitySeconds: defaultVisibility, ManagedSSE: true, FIFO: fifo,
	}
	if fifo {
		a.DedupScope, a.Throughput = scopeQueue, throughputQueue
	}
	return a
}

// format returns the attributes as they read, without those that are not set.
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

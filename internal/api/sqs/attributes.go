package sqs

import (
	"log/slog"
	"slices"
	"strconv"
	"strings"

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

// change is a request to set attributes of a queue.
type change struct {
	name    catalog.Name
	attrs   *catalog.Attributes
	values  map[string]string
	queueAt func(catalog.Name) *catalog.Queue
	idOf    func(arn string) (id string, ok bool) // of a user or role
	log     *slog.Logger
}

// apply sets the attributes and looks at how they go together. On an error
// attrs is half-changed and must be thrown away.
func (c *change) apply() *protocol.Error {
	if err := c.setAll(); err != nil {
		return err
	}
	return c.together()
}

// setAll sets the attributes one by one, in an order that does not depend on
// the request's.
func (c *change) setAll() *protocol.Error {
	names := make([]string, 0, len(c.values))
	for name := range c.values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := c.set(name, c.values[name]); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) set(name, value string) *protocol.Error {
	a := c.attrs
	switch name {
	case attrDelay:
		return setInt(&a.DelaySeconds, name, value, 0, maxDelay)
	case attrMaxSize:
		return setInt(&a.MaximumMessageSize, name, value, minMessageSize, maxMessageSize)
	case attrRetention:
		return setInt(&a.RetentionSeconds, name, value, minRetention, maxRetention)
	case attrWait:
		return setInt(&a.WaitSeconds, name, value, 0, maxWait)
	case attrVisibility:
		return setInt(&a.VisibilitySeconds, name, value, 0, maxVisibility)
	case attrPolicy:
		return c.setPolicy(value)
	case attrRedrive:
		r, err := c.redrive(value)
		a.Redrive = r
		return err
	case attrRedriveAllow:
		r, err := redriveAllow(value)
		a.RedriveAllow = r
		return err
	case attrKMSKey:
		return setKMSKey(&a.KMSKey, value)
	case attrKMSReuse:
		return setInt(&a.KMSReuse, name, value, minKMSReuse, maxKMSReuse)
	case attrManagedSSE:
		return setBool(&a.ManagedSSE, name, value)
	case attrFIFO:
		return c.setFIFO(value)
	case attrContentDedup, attrDedupScope, attrThroughput:
		return c.setFIFOOnly(name, value)
	}
	return errUnknownAttribute(name)
}

// setFIFO accepts what the queue already is: its type comes from its creation.
func (c *change) setFIFO(value string) *protocol.Error {
	var fifo bool
	if !c.attrs.FIFO {
		return errUnknownAttribute(attrFIFO)
	}
	if err := setBool(&fifo, attrFIFO, value); err != nil {
		return err
	}
	if !fifo {
		return errAttributeValue(attrFIFO, "Modifying queue type is not supported.")
	}
	return nil
}

func (c *change) setFIFOOnly(name, value string) *protocol.Error {
	a := c.attrs
	if !a.FIFO {
		if name == attrContentDedup {
			return errUnknownAttribute(name)
		}
		return errAttributeName("You can specify the %s only when FifoQueue is set to true.", name)
	}
	switch name {
	case attrContentDedup:
		return setBool(&a.ContentDedup, name, value)
	case attrDedupScope:
		return setOne(&a.DedupScope, name, value, scopeQueue, scopeGroup)
	}
	return setOne(&a.Throughput, name, value, throughputQueue, throughputGroup)
}

// together refuses attributes that exclude each other.
func (c *change) together() *protocol.Error {
	a := c.attrs
	if a.KMSKey == "" {
		a.KMSReuse = 0 // it says how long a key is used
	}
	if key, set := c.values[attrKMSKey]; set && key != "" {
		if sse, set := c.values[attrManagedSSE]; !set || !strings.EqualFold(sse, "true") {
			a.ManagedSSE = false
		}
	}
	if a.KMSKey != "" && a.ManagedSSE {
		return errAttributeName("You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.")
	}
	if a.Throughput == throughputGroup && a.DedupScope != scopeGroup {
		return errAttributeValue(attrThroughput,
			"The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup")
	}
	return nil
}

func setInt(to *int, name, value string, least, most int) *protocol.Error {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return errAttributeValue(name, "Must be an integer from "+strconv.Itoa(least)+" to "+strconv.Itoa(most)+".")
	}
	*to = n
	return nil
}

func setBool(to *bool, name, value string) *protocol.Error {
	switch strings.ToLower(value) {
	case "true":
		*to = true
	case "false":
		*to = false
	default:
		return errAttributeValue(name, "Must be true or false.")
	}
	return nil
}

func setOne(to *string, name, value string, allowed ...string) *protocol.Error {
	if !slices.Contains(allowed, value) {
		return errAttributeValue(name, "Must be one of "+strings.Join(allowed, ", ")+".")
	}
	*to = value
	return nil
}

func setKMSKey(to *string, value string) *protocol.Error {
	if len(value) > maxKMSKey || !printable(value) {
		return errAttributeValue(attrKMSKey, "Must be at most "+strconv.Itoa(maxKMSKey)+" printable characters of ASCII.")
	}
	*to = value
	return nil
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

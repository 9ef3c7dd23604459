package sqs

import (
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/catalog"
)

// attributeChange sets attributes of a queue to a client's values.
type attributeChange struct {
	name      catalog.Name
	attrs     *catalog.Attributes
	values    map[string]string
	findQueue func(catalog.Name) *catalog.Queue
	idOf      func(arn string) (id string, ok bool) // of a user or role
	log       *slog.Logger
}

// change returns the change of attrs, those of the queue called n, to values.
func (r *records) change(n catalog.Name, attrs *catalog.Attributes, values map[string]string) *attributeChange {
	return &attributeChange{name: n, attrs: attrs, values: values, findQueue: r.catalog.Find, idOf: r.idOf, log: r.log}
}

// apply sets the attributes and checks them together. After an error attrs is partly changed and must be discarded.
func (c *attributeChange) apply() error {
	if err := c.setAll(); err != nil {
		return err
	}
	return c.checkTogether()
}

// setAll sets the attributes one by one, in a fixed order.
func (c *attributeChange) setAll() error {
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if err := c.set(name, c.values[name]); err != nil {
			return err
		}
	}
	return nil
}

func (c *attributeChange) set(name, value string) error {
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
		return c.setRedrive(value)
	case attrRedriveAllow:
		return c.setRedriveAllow(value)
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

// setFIFO accepts only the queue's type: it is fixed when a queue is created.
func (c *attributeChange) setFIFO(value string) error {
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

// setFIFOOnly sets an attribute that only FIFO queues have.
func (c *attributeChange) setFIFOOnly(name, value string) error {
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

// checkTogether refuses attributes that exclude each other, and removes those without effect.
func (c *attributeChange) checkTogether() error {
	a := c.attrs
	if a.KMSKey == "" {
		a.KMSReuse = 0 // it sets how long a key is used
	}
	if key, set := c.values[attrKMSKey]; set && key != "" {
		if sse, set := c.values[attrManagedSSE]; !set || !strings.EqualFold(sse, "true") {
			a.ManagedSSE = false
		}
	}
	if a.KMSKey != "" && a.ManagedSSE {
		return errAttributeName(
			"You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.",
		)
	}
	if a.Throughput == throughputGroup && a.DedupScope != scopeGroup {
		return errAttributeValue(attrThroughput,
			"The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup")
	}
	return nil
}

func setInt(to *int, name, value string, least, most int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return errAttributeValue(name, "Must be an integer from "+strconv.Itoa(least)+" to "+strconv.Itoa(most)+".")
	}
	*to = n
	return nil
}

func setBool(to *bool, name, value string) error {
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

func setOne(to *string, name, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return errAttributeValue(name, "Must be one of "+strings.Join(allowed, ", ")+".")
	}
	*to = value
	return nil
}

func setKMSKey(to *string, value string) error {
	if len(value) > maxKMSKey || !service.Printable(value) {
		return errAttributeValue(
			attrKMSKey, "Must be at most "+strconv.Itoa(maxKMSKey)+" printable characters of ASCII.",
		)
	}
	*to = value
	return nil
}

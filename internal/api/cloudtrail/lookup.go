package cloudtrail

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
)

type lookupAttribute struct {
	AttributeKey   *string `max:"64"`
	AttributeValue *string `max:"2000"`
}

type lookupEventsInput struct {
	EndTime          *time.Time
	EventCategory    *string           `max:"64"`
	LookupAttributes []lookupAttribute `max:"10"` // matcher has the limit
	MaxResults       *int32
	NextToken        *string `max:"1024"`
	StartTime        *time.Time
}

type eventResource struct {
	ResourceName string `json:",omitempty"`
	ResourceType string `json:",omitempty"`
}

type event struct {
	AccessKeyId     string `json:",omitempty"`
	CloudTrailEvent string
	EventId         string
	EventName       string
	EventSource     string
	EventTime       time.Time
	ReadOnly        string
	Resources       []eventResource `json:",always"`
	Username        string          `json:",omitempty"`
}

type lookupEventsOutput struct {
	Events    []event `json:",always"`
	NextToken *string
}

const mostPerPage = 50

func (s *Service) lookupEvents(
	ctx context.Context, c *protocol.Call, in *lookupEventsInput,
) (*lookupEventsOutput, error) {
	if err := s.authorizer.Authorize(
		c, service.Subject{Resource: service.ARN("*")}, "cloudtrail:LookupEvents",
	); err != nil {
		return nil, err
	}
	q, err := s.query(c, in)
	if err != nil {
		return nil, err
	}
	if in.EventCategory != nil { // there are no insights
		return &lookupEventsOutput{}, nil
	}
	if q.Cursor, err = in.cursor(); err != nil {
		return nil, err
	}
	ctx, end := s.budget.Begin(ctx, q.Account)
	defer end()
	q.Request = budget.Of(ctx)
	found, cursor, err := s.trail.Find(q)
	if errors.Is(err, trail.ErrCursor) {
		return nil, errLookupToken()
	}
	if errors.Is(err, budget.ErrBusy) {
		return nil, protocol.Throttled()
	}
	if err != nil {
		return nil, service.Failure(err)
	}
	out := &lookupEventsOutput{Events: service.Convert(found, shown)}
	if cursor != "" {
		token := cursor + in.mark()
		out.NextToken = &token
	}
	return out, nil
}

// markLength is how long the mark of a token is.
const markLength = 8

// mark returns the end of a token, which identifies its lookup attributes.
func (in *lookupEventsInput) mark() string {
	h := fnv.New32a()
	for _, a := range in.LookupAttributes {
		_, _ = fmt.Fprintf(h, "%q%q", *a.AttributeKey, *a.AttributeValue) // a hash takes everything
	}
	return fmt.Sprintf("%0*x", markLength, h.Sum32())
}

// cursor returns the end of the previous page, from its token. Pages must have the same lookup attributes.
func (in *lookupEventsInput) cursor() (string, error) {
	if in.NextToken == nil {
		return "", nil
	}
	cursor, ok := strings.CutSuffix(*in.NextToken, in.mark())
	if !ok || cursor == "" {
		return "", errLookupToken()
	}
	return cursor, nil
}

func errLookupToken() error {
	return refusal(
		"InvalidNextTokenException",
		"The token of the page cannot be read: it is not one that LookupEvents has returned for these lookup attributes.",
	)
}

// query returns the query of an input.
func (s *Service) query(c *protocol.Call, in *lookupEventsInput) (trail.Query, error) {
	q := trail.Query{Account: service.Caller(c).Account, Max: mostPerPage}
	if in.MaxResults != nil {
		q.Max = int(*in.MaxResults)
	}
	if in.StartTime != nil {
		q.From = *in.StartTime
	}
	if in.EndTime != nil {
		q.To = in.EndTime.Truncate(time.Second).Add(time.Second - time.Millisecond) // events are shown by the second
	}
	if in.StartTime != nil && in.EndTime != nil && in.EndTime.Before(*in.StartTime) {
		return q, refusal("InvalidTimeRangeException", "The start time must not be after the end time.")
	}
	wanted, err := matcher(in.LookupAttributes)
	if err != nil {
		return q, err
	}
	region := c.Region
	q.Wanted = func(e *trail.Event) bool {
		return (e.AWSRegion == region || trail.Global(e.EventSource)) && wanted(e)
	}
	return q, nil
}

// matcher returns the function that selects the events for a client.
func matcher(attributes []lookupAttribute) (func(*trail.Event) bool, error) {
	switch {
	case len(attributes) == 0:
		return func(*trail.Event) bool { return true }, nil
	case len(attributes) > 1:
		return nil, refusal("InvalidLookupAttributesException", "There can be only one lookup attribute.")
	}
	key, want := *attributes[0].AttributeKey, *attributes[0].AttributeValue
	switch key {
	case "ResourceName":
		return func(e *trail.Event) bool {
			return hasResource(e, func(r *trail.Resource) bool { return r.ARN == want || nameOf(r.ARN) == want })
		}, nil
	case "ResourceType":
		return func(e *trail.Event) bool {
			return hasResource(e, func(r *trail.Resource) bool { return r.Type == want })
		}, nil
	}
	value := attributeOf[key]
	return func(e *trail.Event) bool { return value(e) == want }, nil
}

// attributeOf returns a lookup attribute of an event, by the attribute's key. The other keys are of its resources.
var attributeOf = map[string]func(*trail.Event) string{
	"AccessKeyId": func(e *trail.Event) string { return e.UserIdentity.AccessKeyID },
	"EventId":     func(e *trail.Event) string { return e.EventID },
	"EventName":   func(e *trail.Event) string { return e.EventName },
	"EventSource": func(e *trail.Event) string { return e.EventSource },
	"ReadOnly":    func(e *trail.Event) string { return strconv.FormatBool(e.ReadOnly) },
	"Username":    username,
}

func hasResource(e *trail.Event, is func(*trail.Resource) bool) bool {
	for i := range e.Resources {
		if is(&e.Resources[i]) {
			return true
		}
	}
	return false
}

// nameOf returns the last part of an ARN, which is the name of a queue, a topic or a user.
func nameOf(arn string) string { return arn[strings.LastIndexAny(arn, ":/")+1:] }

// username is the caller's name in CloudTrail's form.
func username(e *trail.Event) string {
	id := &e.UserIdentity
	switch id.Type {
	case "Root":
		return "root"
	case "AssumedRole", "FederatedUser":
		return id.ARN[strings.LastIndexByte(id.ARN, '/')+1:]
	}
	return id.UserName
}

func shown(f trail.Found) event {
	e := event{
		AccessKeyId: f.UserIdentity.AccessKeyID, CloudTrailEvent: f.Text, EventId: f.EventID, EventName: f.EventName,
		EventSource: f.EventSource, EventTime: f.EventTime, ReadOnly: strconv.FormatBool(f.ReadOnly),
		Username: username(&f.Event),
	}
	for _, r := range f.Resources {
		e.Resources = append(e.Resources, eventResource{r.ARN, r.Type})
	}
	return e
}

func refusal(shape, format string, args ...any) *protocol.Error {
	return service.Modelled(shape, shape, http.StatusBadRequest, format, args...)
}

package cloudtrail

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/selector"
)

type dataResource struct {
	Type   *string  `max:"256"`
	Values []string `max:"250,2048"`
}

type eventSelector struct {
	DataResources                 []dataResource `json:",always" max:"250"`
	ExcludeManagementEventSources []string       `json:",always" max:"20,256"`
	IncludeManagementEvents       *bool
	ReadWriteType                 *string `               max:"32"`
}

type fieldSelector struct {
	EndsWith      []string `max:"500,2048"`
	Equals        []string `max:"500,2048"`
	Field         *string  `max:"1000"`
	NotEndsWith   []string `max:"500,2048"`
	NotEquals     []string `max:"500,2048"`
	NotStartsWith []string `max:"500,2048"`
	StartsWith    []string `max:"500,2048"`
}

type advancedEventSelector struct {
	FieldSelectors []fieldSelector `max:"50"`
	Name           *string         `max:"1000"`
}

type putEventSelectorsInput struct {
	AdvancedEventSelectors []advancedEventSelector `max:"500"`
	EventSelectors         []eventSelector         `max:"50"` // selector.MaxBasic has the limit
	TrailName              *string                 `max:"300"`
}

type eventSelectorsOutput struct {
	AdvancedEventSelectors []advancedEventSelector
	EventSelectors         []eventSelector
	TrailARN               string
}

func errSelectors(format string, args ...any) error {
	return refusal("InvalidEventSelectorsException", format, args...)
}

// set returns the selectors of an input.
func (in *putEventSelectorsInput) set() (selector.Set, error) {
	var out selector.Set
	if len(in.EventSelectors)+len(in.AdvancedEventSelectors) == 0 {
		return out, errSelectors("Specify a valid number of selectors (1 to %d) for your trail.", selector.MaxBasic)
	}
	for _, one := range in.EventSelectors {
		b := selector.Basic{ReadWrite: selector.All, ExcludeSources: one.ExcludeManagementEventSources}
		if one.ReadWriteType != nil {
			b.ReadWrite = *one.ReadWriteType
		}
		b.NoManagement = one.IncludeManagementEvents != nil && !*one.IncludeManagementEvents
		for _, r := range one.DataResources {
			if r.Type == nil {
				return out, errSelectors("A data resource needs a type.")
			}
			b.DataResources = append(b.DataResources, selector.DataResource{Type: *r.Type, Values: r.Values})
		}
		out.Basic = append(out.Basic, b)
	}
	for _, one := range in.AdvancedEventSelectors {
		var a selector.Advanced
		if one.Name != nil {
			a.Name = *one.Name
		}
		for _, f := range one.FieldSelectors {
			a.Fields = append(a.Fields, selector.Field{
				Name: *f.Field, Equals: f.Equals, StartsWith: f.StartsWith, EndsWith: f.EndsWith,
				NotEquals: f.NotEquals, NotStartsWith: f.NotStartsWith, NotEndsWith: f.NotEndsWith,
			})
		}
		out.Advanced = append(out.Advanced, a)
	}
	err := out.CheckNew()
	if refused, ok := errors.AsType[*selector.Refusal](err); ok {
		return out, errSelectors("%s", refused)
	}
	if err != nil {
		return out, errSelectors("The event selectors are invalid: %s.", err)
	}
	return out, nil
}

// showSelectors returns the selectors of a trail. Without any it has the one that is the default.
func showSelectors(t *trails.Trail) *eventSelectorsOutput {
	out := &eventSelectorsOutput{TrailARN: t.ARN()}
	basic := t.Selectors.Basic
	if t.Selectors.Empty() {
		basic = []selector.Basic{{ReadWrite: selector.All}}
	}
	for _, b := range basic {
		management := !b.NoManagement
		out.EventSelectors = append(out.EventSelectors, eventSelector{
			DataResources:                 service.Convert(b.DataResources, showResource),
			ExcludeManagementEventSources: b.ExcludeSources,
			IncludeManagementEvents:       &management, ReadWriteType: &b.ReadWrite,
		})
	}
	for _, a := range t.Selectors.Advanced {
		shown := advancedEventSelector{}
		if a.Name != "" {
			shown.Name = &a.Name
		}
		for _, f := range a.Fields {
			shown.FieldSelectors = append(shown.FieldSelectors, fieldSelector{
				Field: &f.Name, Equals: f.Equals, StartsWith: f.StartsWith, EndsWith: f.EndsWith,
				NotEquals: f.NotEquals, NotStartsWith: f.NotStartsWith, NotEndsWith: f.NotEndsWith,
			})
		}
		out.AdvancedEventSelectors = append(out.AdvancedEventSelectors, shown)
	}
	return out
}

func showResource(r selector.DataResource) dataResource {
	return dataResource{Type: &r.Type, Values: r.Values}
}

func (s *Service) putEventSelectors(
	ctx context.Context, c *protocol.Call, in *putEventSelectorsInput,
) (*eventSelectorsOutput, error) {
	t, err := s.findHere(c, "PutEventSelectors", in.TrailName)
	if err != nil {
		return nil, err
	}
	selectors, err := in.set()
	if err != nil {
		return nil, err
	}
	if err := s.room(); err != nil {
		return nil, service.NoRoom(err)
	}
	is, err := s.edit(ctx, t.Name, func(t *trails.Trail) error { t.Selectors = selectors; return nil })
	if err != nil {
		return nil, err
	}
	return showSelectors(is), nil
}

type getEventSelectorsInput struct {
	TrailName *string `max:"300"`
}

func (s *Service) getEventSelectors(
	_ context.Context, c *protocol.Call, in *getEventSelectorsInput,
) (*eventSelectorsOutput, error) {
	t, err := s.find(c, "GetEventSelectors", in.TrailName)
	if err != nil {
		return nil, err
	}
	return showSelectors(t), nil
}

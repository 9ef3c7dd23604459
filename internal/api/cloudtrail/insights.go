package cloudtrail

import (
	"context"
	"slices"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
)

// The server finds nothing unusual in events: it stores which insights a trail is to have, and shows them.

type insightSelector struct {
	EventCategories []string `max:"10,64"`
	InsightType     *string  `max:"64"`
}

// insightsSource is the source of the insights.
type insightsSource struct {
	EventDataStore *string `max:"300"`
	TrailName      *string `max:"300"`
}

type putInsightSelectorsInput struct {
	insightsSource
	InsightSelectors    []insightSelector `max:"50"`
	InsightsDestination *string           `max:"300"`
}

type getInsightSelectorsInput struct{ insightsSource }

type insightSelectorsOutput struct {
	InsightSelectors []insightSelector `json:",always"`
	TrailARN         string
}

// check refuses parameters for event data stores.
func (in *insightsSource) check(store bool) error {
	switch {
	case store && in.TrailName != nil:
		return refusal("InvalidParameterCombinationException", "A request is about a trail or about an event data store, not both.")
	case store:
		return refusal("UnsupportedOperationException", "This server has no event data stores.")
	}
	return nil
}

func (s *Service) putInsightSelectors(
	ctx context.Context, c *protocol.Call, in *putInsightSelectorsInput,
) (*insightSelectorsOutput, error) {
	if err := in.check(in.EventDataStore != nil || in.InsightsDestination != nil); err != nil {
		return nil, err
	}
	t, err := s.findHere(c, "PutInsightSelectors", in.TrailName)
	if err != nil {
		return nil, err
	}
	insights, err := in.insights()
	if err != nil {
		return nil, err
	}
	if err := s.room(); err != nil {
		return nil, service.NoRoom(err)
	}
	is, err := s.edit(ctx, t.Name, func(t *trails.Trail) error {
		if len(insights) > 0 {
			if err := s.trails.MayHaveInsights(); err != nil {
				return err
			}
		}
		t.Insights = insights
		return nil
	})
	if err != nil {
		return nil, err
	}
	return showInsights(is), nil
}

// insights returns the insights of a request.
func (in *putInsightSelectorsInput) insights() (out []trails.Insight, err error) {
	for _, one := range in.InsightSelectors {
		if one.InsightType == nil {
			return nil, refusal("InvalidInsightSelectorsException", "Each insight selector needs an InsightType.")
		}
		if slices.ContainsFunc(out, func(i trails.Insight) bool { return i.Type == *one.InsightType }) {
			return nil, refusal(
				"InvalidInsightSelectorsException", "Two insight selectors have the InsightType %s.", *one.InsightType,
			)
		}
		out = append(out, trails.Insight{Type: *one.InsightType, Categories: one.EventCategories})
	}
	return out, nil
}

func (s *Service) getInsightSelectors(
	_ context.Context, c *protocol.Call, in *getInsightSelectorsInput,
) (*insightSelectorsOutput, error) {
	if err := in.check(in.EventDataStore != nil); err != nil {
		return nil, err
	}
	t, err := s.find(c, "GetInsightSelectors", in.TrailName)
	if err != nil {
		return nil, err
	}
	if len(t.Insights) == 0 {
		return nil, errNoInsights(t)
	}
	return showInsights(t), nil
}

func showInsights(t *trails.Trail) *insightSelectorsOutput {
	show := func(i trails.Insight) insightSelector {
		return insightSelector{EventCategories: i.Categories, InsightType: &i.Type}
	}
	return &insightSelectorsOutput{TrailARN: t.ARN(), InsightSelectors: service.Convert(t.Insights, show)}
}

func errNoInsights(t *trails.Trail) error {
	return refusal("InsightNotEnabledException", "Trail %s does not have Insight enabled. "+
		"Edit the trail settings to enable Insights, and then try the operation again.", t.ARN())
}

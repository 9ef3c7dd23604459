package cloudtrail

import (
	"context"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
)

// The server finds nothing unusual in events: insights can be asked for and turned off, and not turned on.

type insightSelector struct {
	EventCategories []string `max:"10,64"`
	InsightType     *string  `max:"64"`
}

// insightsSource says of what the insights are.
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

// check refuses what has to do with event data stores.
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
	_ context.Context, c *protocol.Call, in *putInsightSelectorsInput,
) (*insightSelectorsOutput, error) {
	if err := in.check(in.EventDataStore != nil || in.InsightsDestination != nil); err != nil {
		return nil, err
	}
	t, err := s.findHere(c, "PutInsightSelectors", in.TrailName)
	if err != nil {
		return nil, err
	}
	if len(in.InsightSelectors) > 0 {
		return nil, refusal("UnsupportedOperationException", "This server has no insights: it does not look for unusual events.")
	}
	return &insightSelectorsOutput{TrailARN: t.ARN()}, nil
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
	return nil, errNoInsights(t)
}

func errNoInsights(t *trails.Trail) error {
	return refusal("InsightNotEnabledException", "Trail %s does not have Insight enabled. "+
		"Edit the trail settings to enable Insights, and then try the operation again.", t.ARN())
}

package cloudtrail_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// No trail has insights: they can be turned off, and not on.
func TestInsights(t *testing.T) {
	t.Parallel()
	a := newAuditor(t)
	ctx := t.Context()
	apitest.Must(t, 0, apitest.Second(a.trail.CreateTrail(ctx, create("all"))))
	all, none := aws.String("all"), aws.String("none")
	put := func(trail *string, insights ...types.InsightType) error {
		in := &cloudtrail.PutInsightSelectorsInput{TrailName: trail, InsightSelectors: []types.InsightSelector{}}
		for _, kind := range insights {
			in.InsightSelectors = append(in.InsightSelectors, types.InsightSelector{InsightType: kind})
		}
		out, err := a.trail.PutInsightSelectors(ctx, in)
		if err == nil && (*out.TrailARN != arn || out.InsightSelectors == nil || len(out.InsightSelectors) > 0) {
			t.Errorf("%+v", out)
		}
		return err
	}
	get := func(in cloudtrail.GetInsightSelectorsInput) error {
		return apitest.Second(a.trail.GetInsightSelectors(ctx, &in))
	}
	for i, c := range []struct {
		err        error
		code, want string
	}{
		{put(all), "", ""},
		{put(aws.String(arn)), "", ""},
		{put(all, types.InsightTypeApiCallRateInsight), "UnsupportedOperationException", "This server has no insights"},
		{put(all, "ColorInsight"), "ValidationException", "1 validation error detected: Value 'ColorInsight' at 'insightSelectors.1.member.insightType' " +
			"failed to satisfy constraint: Member must satisfy enum value set: [ApiCallRateInsight, ApiErrorRateInsight]"},
		{put(none), "TrailNotFoundException", ""},
		{put(nil), "InvalidTrailNameException", ""},
		{get(cloudtrail.GetInsightSelectorsInput{TrailName: all}), "InsightNotEnabledException", "Trail " + arn + " does not have Insight enabled."},
		{get(cloudtrail.GetInsightSelectorsInput{TrailName: none}), "TrailNotFoundException", ""},
		{get(cloudtrail.GetInsightSelectorsInput{EventDataStore: all}), "UnsupportedOperationException", "This server has no event data stores."},
		{get(cloudtrail.GetInsightSelectorsInput{TrailName: all, EventDataStore: all}), "InvalidParameterCombinationException", ""},
	} {
		if apitest.Code(c.err) != c.code || c.want != "" && !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%d: %v, want %q: %s", i, c.err, c.code, c.want)
		}
	}
}

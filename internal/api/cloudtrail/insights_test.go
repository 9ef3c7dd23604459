package cloudtrail_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// Insights of a trail are set, shown and turned off. The trail's description says whether it has some.
func TestInsights(t *testing.T) {
	t.Parallel()
	a := newAuditor(t)
	ctx := t.Context()
	apitest.Must(t, 0, apitest.Second(a.trail.CreateTrail(ctx, create("all"))))
	all, none := aws.String("all"), aws.String("none")
	has := func(want bool) {
		t.Helper()
		out, err := a.trail.GetTrail(ctx, &cloudtrail.GetTrailInput{Name: all})
		if got := apitest.Must(t, out, err).Trail.HasInsightSelectors; *got != want {
			t.Errorf("the trail has insights: %t", *got)
		}
	}
	has(false)
	both := []types.InsightSelector{
		{InsightType: types.InsightTypeApiCallRateInsight},
		{InsightType: types.InsightTypeApiErrorRateInsight,
			EventCategories: []types.SourceEventCategory{types.SourceEventCategoryManagement}},
	}
	on, err := a.trail.PutInsightSelectors(ctx, &cloudtrail.PutInsightSelectorsInput{
		TrailName: all, InsightSelectors: both,
	})
	if apitest.Must(t, on, err); *on.TrailARN != arn || !reflect.DeepEqual(on.InsightSelectors, both) {
		t.Errorf("put are %+v", on)
	}
	got, err := a.trail.GetInsightSelectors(ctx, &cloudtrail.GetInsightSelectorsInput{TrailName: aws.String(arn)})
	if apitest.Must(t, got, err); *got.TrailARN != arn || !reflect.DeepEqual(got.InsightSelectors, both) {
		t.Errorf("shown are %+v", got)
	}
	has(true)
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
		{put(all, types.InsightTypeApiCallRateInsight, types.InsightTypeApiCallRateInsight),
			"InvalidInsightSelectorsException",
			"Two insight selectors have the InsightType ApiCallRateInsight."},
		{put(all, ""), "InvalidInsightSelectorsException", "Each insight selector needs an InsightType."},
		{put(all, "ColorInsight"), "ValidationException",
			"1 validation error detected: Value 'ColorInsight' at 'insightSelectors.1.member.insightType' " +
				"failed to satisfy constraint: Member must satisfy enum value set: [ApiCallRateInsight, ApiErrorRateInsight]"},
		{put(none), "TrailNotFoundException", ""},
		{put(nil), "InvalidTrailNameException", ""},
		{get(cloudtrail.GetInsightSelectorsInput{TrailName: all}), "InsightNotEnabledException",
			"Trail " + arn + " does not have Insight enabled."},
		{get(cloudtrail.GetInsightSelectorsInput{TrailName: none}), "TrailNotFoundException", ""},
		{get(cloudtrail.GetInsightSelectorsInput{EventDataStore: all}), "UnsupportedOperationException",
			"This server has no event data stores."},
		{get(cloudtrail.GetInsightSelectorsInput{TrailName: all, EventDataStore: all}),
			"InvalidParameterCombinationException", ""},
	} {
		if apitest.Code(c.err) != c.code || c.want != "" && !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%d: %v, want %q: %s", i, c.err, c.code, c.want)
		}
	}
}

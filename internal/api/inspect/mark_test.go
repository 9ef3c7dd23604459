package inspect_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// A mark is an event of the trail that contains its text.
func TestPutMark(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if out := r.ask("PutMark", object{"Text": "v42 – Zoë"}); out["Timestamp"] == 0.0 {
		t.Errorf("the answer is %v", out)
	}
	trail := cloudtrail.New(cloudtrail.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(r.server.Endpoint()),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return r.root.Keys, nil
		}),
	})
	in := &cloudtrail.LookupEventsInput{LookupAttributes: []types.LookupAttribute{
		{AttributeKey: types.LookupAttributeKeyEventName, AttributeValue: aws.String("PutMark")},
	}}
	eventually.True(t, "the mark is in the trail", func() bool {
		out, err := trail.LookupEvents(t.Context(), in)
		return err == nil && len(out.Events) == 1 && strings.Contains(*out.Events[0].CloudTrailEvent, "v42 – Zoë") &&
			aws.ToString(out.Events[0].ReadOnly) == "false"
	})
}

func TestPutMarkIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, text := range []string{"", "  ", "a\nb"} {
		r.refused(r.root, "PutMark", object{"Text": text}, 400, "1 to 100 characters")
	}
	r.refused(r.root, "PutMark", object{"Text": strings.Repeat("x", 101)}, 400, "less than or equal to 100")
	none, _ := r.root.User(t, "none", apitest.Allow("sqs:SendMessage", arn("q")))
	r.refused(none, "PutMark", object{"Text": "v42"}, 403, "sluice:PutMark")
	deployer, _ := r.root.User(t, "deployer", apitest.Allow("sluice:PutMark", "*"))
	if status, out := deployer.Sluice(t, "PutMark", object{"Text": "v42"}); status != 200 {
		t.Errorf("with the permission: %d %v", status, out)
	}
	r.refused(apitest.Stranger(r.server.Endpoint()), "PutMark", object{"Text": "v42"}, 403, "Authentication Token")
}

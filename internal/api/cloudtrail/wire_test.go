package cloudtrail_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	service "github.com/sluicemq/sluice/internal/api/cloudtrail"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// CloudTrail has never supported Query. With the header for an error's Query code, the SDK for Python would call
// AccessDeniedException AccessDenied.
func TestErrorsHaveNoQueryCode(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	in := &protocol.Request{Kind: protocol.JSON, ContentType: "application/x-amz-json-1.1"}
	if err := protocol.WriteError(w, service.New(service.Options{}), in, "id",
		protocol.AccessDenied("no")); err != nil {
		t.Fatal(err)
	}
	if got := w.Header().Values("X-Amzn-Query-Error"); len(got) > 0 ||
		!strings.Contains(w.Body.String(), "#AccessDeniedException") {
		t.Errorf("the header is %q, the answer %s", got, w.Body)
	}
}

// AWS services that support only JSON answer callers without permission with 400.
func TestStatusOfRefusals(t *testing.T) {
	t.Parallel()
	for _, e := range []*protocol.Error{
		protocol.AccessDenied("no"), protocol.UnrecognizedClient(), protocol.InvalidSignature("no"),
		protocol.MissingAuthenticationToken(), protocol.ExpiredToken(),
	} {
		w := httptest.NewRecorder()
		in := &protocol.Request{Kind: protocol.JSON, ContentType: "application/x-amz-json-1.1"}
		if err := protocol.WriteError(w, service.New(service.Options{}), in, "id", e); err != nil {
			t.Fatal(err)
		}
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s has the status %d", e.Type, w.Code)
		}
	}
}

// The constraints of AWS's model are checked first, and one answer lists all violations.
func TestModel(t *testing.T) {
	t.Parallel()
	const fails = " failed to satisfy constraint: Member must "
	wire := service.New(service.Options{})
	for _, c := range []struct{ operation, in, says string }{
		{"CreateTrail", `{}`,
			"2 validation errors detected: Value null at 'name'" + fails + "not be null; Value null at 's3BucketName'" +
				fails + "not be null"},
		{"CreateTrail", `{"Name":"all","S3BucketName":"b","TagsList":[{"Key":""}]}`,
			"1 validation error detected: Value '' at 'tagsList.1.member.key'" + fails +
				"have length greater than or equal to 1"},
		{"GetTrail", `{}`, "1 validation error detected: Value null at 'name'" + fails + "not be null"},
		{"AddTags", `{}`,
			"2 validation errors detected: Value null at 'resourceId'" + fails +
				"not be null; Value null at 'tagsList'" + fails + "not be null"},
		{"ListTags", `{}`, "1 validation error detected: Value null at 'resourceIdList'" + fails + "not be null"},
		{"LookupEvents", `{"MaxResults":51}`,
			"1 validation error detected: Value '51' at 'maxResults'" + fails + "have value less than or equal to 50"},
		{"LookupEvents", `{"EventCategory":"data"}`,
			"1 validation error detected: Value 'data' at 'eventCategory'" + fails +
				"satisfy enum value set: [insight]"},
		{"LookupEvents", `{"LookupAttributes":[{"AttributeKey":"Color"}]}`,
			"2 validation errors detected: Value 'Color' at 'lookupAttributes.1.member.attributeKey'" + fails +
				"satisfy enum value set: " +
				"[EventId, EventName, ReadOnly, Username, ResourceType, ResourceName, EventSource, AccessKeyId]" +
				"; Value null at 'lookupAttributes.1.member.attributeValue'" + fails + "not be null"},
		{"PutEventSelectors", `{"TrailName":"all","EventSelectors":[{"ReadWriteType":"None"}]}`,
			"1 validation error detected: Value 'None' at 'eventSelectors.1.member.readWriteType'" + fails +
				"satisfy enum value set: [ReadOnly, WriteOnly, All]"},
		{"PutEventSelectors", `{"TrailName":"all","AdvancedEventSelectors":[{"FieldSelectors":[{"Equals":["x"]}]},{}]}`,
			"2 validation errors detected: Value null at 'advancedEventSelectors.1.member.fieldSelectors.1.member.field'" + fails + "not be null" +
				"; Value null at 'advancedEventSelectors.2.member.fieldSelectors'" + fails + "not be null"},
		{"PutInsightSelectors", `{"TrailName":"all"}`,
			"1 validation error detected: Value null at 'insightSelectors'" + fails + "not be null"},
	} {
		request := httptest.NewRequest(http.MethodPost, "/", nil)
		request.Header.Set("Content-Type", "application/x-amz-json-1.1")
		request.Header.Set("X-Amz-Target", "CloudTrail_20131101."+c.operation)
		err := invoke(t, wire, request, c.in)
		if err == nil || err.Message != c.says || err.Type != "com.amazon.coral.validate#ValidationException" ||
			err.Status != http.StatusBadRequest {
			t.Errorf("%s %s: %+v\nwant %s", c.operation, c.in, err, c.says)
		}
	}
}

// invoke makes a call that must be refused.
func invoke(t *testing.T, wire *protocol.Service, request *http.Request, body string) *protocol.Error {
	t.Helper()
	parsed, err := protocol.Recognise(request, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	op, err := wire.Lookup(parsed)
	if err != nil {
		t.Fatal(err)
	}
	in, err := op.Decode(parsed)
	if err != nil {
		return protocol.AsError(err)
	}
	if _, err = op.Invoke(t.Context(), &protocol.Call{Service: "cloudtrail", Operation: op.Name, Region: "us-east-1"},
		in); err == nil {
		return nil
	}
	return protocol.AsError(err)
}

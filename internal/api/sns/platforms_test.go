package sns_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

const (
	noApplication = "PlatformApplication does not exist"
	noEndpoint    = "Endpoint does not exist"
)

// absentPlatforms are requests about an application and an endpoint, which do not exist.
var absentPlatforms = []struct {
	operation
	says string
}{
	{operation{"CreatePlatformEndpoint", with{"PlatformApplicationArn", topicARN("app/GCM/a"), "Token", "t"},
		[]string{"CreatePlatformEndpoint"}, topicARN("app/GCM/a")}, noApplication},
	{operation{"GetPlatformApplicationAttributes", with{"PlatformApplicationArn", topicARN("app/GCM/a")},
		[]string{"GetPlatformApplicationAttributes"}, topicARN("app/GCM/a")}, noApplication},
	{operation{"SetPlatformApplicationAttributes",
		attributes("PlatformApplicationArn", topicARN("app/GCM/a"), "Enabled", "true"),
		[]string{"SetPlatformApplicationAttributes"}, topicARN("app/GCM/a")}, noApplication},
	{operation{"ListEndpointsByPlatformApplication", with{"PlatformApplicationArn", topicARN("app/GCM/a")},
		[]string{"ListEndpointsByPlatformApplication"}, topicARN("app/GCM/a")}, noApplication},
	{operation{"GetEndpointAttributes", with{"EndpointArn", topicARN("endpoint/GCM/a/1")},
		[]string{"GetEndpointAttributes"}, topicARN("endpoint/GCM/a/1")}, noEndpoint},
	{operation{"SetEndpointAttributes", attributes("EndpointArn", topicARN("endpoint/GCM/a/1"), "Enabled", "true"),
		[]string{"SetEndpointAttributes"}, topicARN("endpoint/GCM/a/1")}, noEndpoint},
}

// An account without applications gets the answers of AWS about one that does not exist. To delete it is no error.
func TestAbsentPlatforms(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		for _, tc := range absentPlatforms {
			st.Refuses(tc.name, tc.in, 404, "NotFound", tc.says)
			badPlatformARNs(st, tc.name, tc.in[0], tc.in)
		}
		for action, in := range map[string]with{
			"DeletePlatformApplication": {"PlatformApplicationArn", topicARN("app/GCM/a")},
			"DeleteEndpoint":            {"EndpointArn", topicARN("endpoint/GCM/a/1")},
		} {
			st.Does(action, in, "<"+action+"Response")
			badPlatformARNs(st, action, in[0], in)
		}
		application := with{"PlatformApplicationArn", topicARN("app/GCM/a")}
		for action, member := range map[string]string{
			"CreatePlatformEndpoint": "token", "SetPlatformApplicationAttributes": "attributes",
		} {
			st.Refuses(action, application, 400, "ValidationError",
				"1 validation error detected: Value null at '"+member+
					"' failed to satisfy constraint: Member must not be null")
		}
	})
}

// badPlatformARNs makes sure that an operation refuses other ARNs in a member of its input.
func badPlatformARNs(st *apitest.Story, action, member string, in with) {
	for arn, want := range map[string]string{
		"x":                   "Invalid parameter: " + member + " Reason: An ARN must have at least 6 elements, not 1",
		topicARN("a"):         "Invalid parameter: " + member + " Reason: Wrong number of slashes in relative portion of the ARN.",
		topicARN("a/b/c/d/e"): "Invalid parameter: " + member + " Reason: Wrong number of slashes in relative portion of the ARN.",
		queueARN("q"):         "Invalid parameter: " + member,
	} {
		st.Refuses(action, append(with{member, arn}, in[2:]...), 400, invalid, want)
	}
	st.Refuses(action, in[2:], 400, invalid,
		"Invalid parameter: "+member+" Reason: no value for required parameter")
}

package sns_test

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// A data protection policy is stored and shown as it was set.
func TestDataProtectionPolicy(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn := topicARN("a")
		const policy = `{"Name":"all","Version":"2021-06-01","Statement":[{"Sid":"mail","DataDirection":"Inbound","Principal":["*"],` +
			`"DataIdentifier":["arn:aws:dataprotection::aws:data-identifier/EmailAddress"],"Operation":{"Deny":{}}}]}`
		st.Does("CreateTopic", with{"Name", "b"})
		st.Does("GetDataProtectionPolicy", with{"ResourceArn", topicARN("b")},
			"<GetDataProtectionPolicyResult><DataProtectionPolicy/></GetDataProtectionPolicyResult>")
		st.Does("CreateTopic", with{"Name", "a", "DataProtectionPolicy", policy})
		shown := "<DataProtectionPolicy>" + strings.ReplaceAll(policy, `"`, "&quot;") + "</DataProtectionPolicy>"
		st.Does("GetDataProtectionPolicy", with{"ResourceArn", arn}, shown)
		put := func(policy string) with { return with{"ResourceArn", arn, "DataProtectionPolicy", policy} }
		st.Does("PutDataProtectionPolicy", put(""))
		st.Does("GetDataProtectionPolicy", with{"ResourceArn", arn}, "<DataProtectionPolicy/>")
		st.Does("PutDataProtectionPolicy", put(policy), "<PutDataProtectionPolicyResponse")
		st.Does("GetDataProtectionPolicy", with{"ResourceArn", arn}, shown)
		for old, tc := range map[string]struct{ bad, want string }{
			`{"Name"`:         {`["Name"`, "the policy is not a JSON object of that form"},
			"2021-06-01":      {"2012-10-17", "Version must be 2021-06-01"},
			`"Inbound"`:       {`"Both"`, "Statement DataDirection must be either Inbound or Outbound"},
			`"Deny":{}`:       {``, "Operation must have one member"},
			`"Deny"`:          {`"Allow"`, "Operation must be Audit, Deidentify or Deny"},
			`"Statement":[{`:  {`"Statement":[],"X":[{`, "Statement must not be empty"},
			`"DataIdentifier`: {`"X`, "DataIdentifier must not be empty"},
		} {
			bad := strings.Replace(policy, old, tc.bad, 1)
			st.Refuses("PutDataProtectionPolicy", put(bad), 400, invalid,
				"Invalid parameter: DataProtectionPolicy Reason: "+tc.want)
		}
		if !st.InURL {
			long := policy + strings.Repeat(" ", 30_720)
			st.Fails("PutDataProtectionPolicy", put(long), 400, invalid, "the policy is longer than 30720 bytes")
		}
		st.Fails("PutDataProtectionPolicy", with{"ResourceArn", topicARN("none"), "DataProtectionPolicy", policy}, 404,
			"NotFound", "Topic does not exist")
		badARNs(st, "ResourceArn", "GetDataProtectionPolicy", "PutDataProtectionPolicy")
	})
}

package sts_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/api/sts"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// No operation succeeds for callers who are unknown, have not signed, or have no permission. Two of the operations need
// none.
func TestNoOperationWithoutPermission(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	callers := apitest.Powerless(t, root)
	root.User(t, "bob", "")
	role, err := root.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName:                 aws.String("r"),
		AssumeRolePolicyDocument: aws.String(apitest.Trusting("arn:aws:iam::" + account + ":user/bob"))})
	// Parameters with which each operation would succeed.
	params := url.Values{
		"Name": {"jean"}, "RoleArn": {*apitest.Must(t, role, err).Role.Arn}, "RoleSessionName": {"s1"},
		"AccessKeyId": {s.Root().AccessKeyID},
		"Version":     {"2011-06-15"}, "EncodedMessage": {"x"},
	}
	free := map[string]bool{"GetCallerIdentity": true, "GetSessionToken": true}
	byToken := "AssumeRoleWithWebIdentity" // has tests of its own: a token takes the place of the signature
	for _, op := range sts.New(sts.Options{}).Operations() {
		if op.Name == byToken {
			continue
		}
		params.Set("Action", op.Name)
		for _, who := range callers {
			status, body := apitest.Query(t, s.Endpoint(), "sts", params.Encode(), who.Cred)
			if free[op.Name] && who.Code == "AccessDenied" {
				if status != http.StatusOK {
					t.Errorf("%s for %s: %d %s", op.Name, who.Who, status, body)
				}
				continue
			}
			if status != http.StatusForbidden || !strings.Contains(body, "<Code>"+who.Code+"</Code>") ||
				!strings.Contains(body, "sts.amazonaws.com/doc/") {
				t.Errorf("%s for %s: %d %s", op.Name, who.Who, status, body)
			}
			if strings.Contains(body, "on resource: *") {
				t.Errorf("%s for %s names no resource: %s", op.Name, who.Who, body)
			}
		}
	}
}

package front_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// A request goes to the service for which it is signed, or else to the one that its version, its operation or its host
// names.
func TestServices(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := s.Root()
	for _, c := range []struct {
		form, host string
		scope      string // empty: not signed
		want       string
	}{
		{"Action=ListUsers&Version=2010-05-08", "", "iam", "<ListUsersResponse"},
		{"Action=ListUsers", "", "iam", "<ListUsersResponse"},
		{"Action=GetCallerIdentity&Version=2011-06-15", "", "sts", "<GetCallerIdentityResponse"},
		{"Action=ListQueues&Version=2012-11-05", "", "sqs", "<ListQueuesResponse"},
		{"Action=ListUsers&Version=2010-05-08", "", "sqs", "InvalidAction"},
		{"Action=ListUsers", "", "sqs", "InvalidAction"},
		{"Action=GetUser&Version=2010-05-08", "", "s3", "correct service: 'iam'"},
		{"Action=ListUsers&Version=2010-05-08", "", "", "https://iam.amazonaws.com/doc/2010-05-08/"},
		{"Action=GetCallerIdentity", "", "", "https://sts.amazonaws.com/doc/2011-06-15/"},
		{"Action=Nonsense", "iam.example.com", "", "https://iam.amazonaws.com/doc/2010-05-08/"},
		{"Action=Nonsense", "", "", "queue.amazonaws.com"},
		{"Action=ListQueues", "", "", "queue.amazonaws.com"},
	} {
		r, err := http.NewRequest(http.MethodPost, s.Endpoint(), strings.NewReader(c.form))
		apitest.Must(t, r, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Host = c.host
		if c.scope != "" {
			apitest.SignAt(t, r, root, c.scope, "eu-north-7", time.Now())
		}
		if _, body := apitest.Exchange(t, r); !strings.Contains(body, c.want) {
			t.Errorf("%s for %q to %q: %s", c.form, c.scope, c.host, body)
		}
	}
}

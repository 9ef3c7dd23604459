package inspect_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/api/inspect"
	"github.com/sluicemq/sluice/internal/auth/identity"
)

// intrude calls an operation with a key, signed for a service, or not at all if the service is empty.
func intrude(t *testing.T, endpoint, operation, input string, cred identity.Credential,
	scope string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, endpoint, strings.NewReader(input))
	apitest.Must(t, r, err)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "Sluice."+operation)
	if scope != "" {
		apitest.SignAt(t, r, cred, scope, "us-east-1", time.Now())
	}
	return apitest.Exchange(t, r)
}

// Every operation of Sluice refuses callers without permission, for all inputs, and does not reveal which queues exist.
func TestIntruders(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.server
	url := r.queue("secret-plans")
	r.sendBodies(url, "the plan")
	user, _ := r.root.User(t, "nothing", apitest.Allow("sqs:*", "*"))
	wrong, unknown, plain := s.Root(), s.Root(), s.Root()
	wrong.Secret = strings.Repeat("x", 40)
	unknown.AccessKeyID = "AKIANOBODYNOBODY0000"
	plain.AccessKeyID, plain.Secret = user.Keys.AccessKeyID, user.Keys.SecretAccessKey
	other, _ := s.RootOf(apitest.OtherAccount)

	wire := admin.New(admin.Options{})
	inspect.Register(wire, inspect.Options{})
	for _, op := range wire.Operations() {
		var answers []string
		for _, name := range []string{"secret-plans", "absent-plans"} {
			input := fmt.Sprintf(
				`{"QueueUrl":%q,"QueueName":%q,"QueueOwnerAWSAccountId":%q}`,
				strings.Replace(url, "secret-plans", name, 1), name, apitest.Account,
			)
			for _, who := range []struct {
				name   string
				cred   identity.Credential
				scope  string
				status int
				words  string
			}{
				{"unsigned", s.Root(), "", http.StatusForbidden, "MissingAuthenticationToken"},
				{"an unknown key", unknown, "sluice", http.StatusForbidden, "UnrecognizedClient"},
				{"a wrong secret", wrong, "sluice", http.StatusForbidden, "InvalidSignature"},
				{"another service's signature", s.Root(), "sqs", http.StatusForbidden, "Credential"},
				{"a user without policy", plain, "sluice", http.StatusForbidden, "not authorized to perform: sluice:"},
				{"the root of another account", other, "sluice", http.StatusForbidden, "AccessDenied"},
			} {
				if slices.Contains([]string{"ListQueueStates", "PutMark"}, op.Name) &&
					who.name == "the root of another account" {
					continue // they concern the caller's own account
				}
				if op.Name == "CheckAccess" &&
					slices.Contains([]string{"a user without policy", "the root of another account"}, who.name) {
					continue // it needs no permission; TestCheckAccess checks what it reveals
				}
				status, body := intrude(t, s.Endpoint(), op.Name, input, who.cred, who.scope)
				if status != who.status || !strings.Contains(body, who.words) {
					t.Errorf("%s, %s: %d %s; want %d and %q", op.Name, who.name, status, body, who.status, who.words)
				}
				if strings.Contains(body, "the plan\"") {
					t.Errorf("%s, %s: %s", op.Name, who.name, body)
				}
				answers = append(answers, strings.ReplaceAll(body, "absent-plans", "secret-plans"))
			}
		}
		for i := range len(answers) / 2 {
			if there, absent := answers[i], answers[i+len(answers)/2]; there != absent {
				t.Errorf("%s: of a queue that exists %s, of another one %s", op.Name, there, absent)
			}
		}
	}
	if status, body := intrude(t, s.Endpoint(), "ListQueueStates", "{}", other, "sluice"); status != http.StatusOK ||
		strings.Contains(body, "secret") {
		t.Errorf("another account's list: %d %s", status, body)
	}
	if got := r.bodies(url); got != "the plan" {
		t.Errorf("the queue has %s", got)
	}
}

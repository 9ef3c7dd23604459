package inspect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// CheckAccess gives for each action the decision of a request, and reveals nothing that requests do not.
func TestCheckAccess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.queue("q")
	cred, _ := r.server.RootOf(apitest.OtherAccount)
	other := apitest.RootActor(r.server.Endpoint(), cred)
	sender, _ := r.root.User(t, "sender", apitest.Allow("sqs:SendMessage", arn("*")))
	nothing, _ := r.root.User(t, "nothing", "")
	denied, _ := r.root.User(t, "denied", `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"*","Resource":"*"},
		{"Effect":"Deny","Action":"sluice:CheckAccess","Resource":"*"}]}`)
	ask := func(as *apitest.Actor, queue string, actions ...string) (int, string) {
		t.Helper()
		status, out := as.Sluice(t, "CheckAccess", object{"QueueUrl": arnURL(r, queue), "Actions": actions})
		var lines []string
		for _, d := range list(out["Decisions"]) {
			lines = append(lines, fmt.Sprint(d["Action"], " ", d["Allowed"], " ", d["Message"]))
		}
		if status != http.StatusOK {
			return status, fmt.Sprint(out)
		}
		return status, strings.ReplaceAll(strings.Join(lines, "\n"), "absent", "q")
	}
	want := func(as *apitest.Actor, queue, words string, status int, actions ...string) {
		t.Helper()
		if got, text := ask(as, queue, actions...); got != status || !strings.Contains(text, words) {
			t.Errorf("%v of %s: %d %s; want %d and %q", actions, queue, got, text, status, words)
		}
	}
	want(r.root, "q", "sqs:DeleteQueue true", http.StatusOK, "sqs:DeleteQueue")
	want(sender, "q", "sqs:SendMessage true <nil>\nsqs:PurgeQueue false User: ", http.StatusOK, "sqs:SendMessage",
		"sqs:PurgeQueue")
	want(sender, "q", "is not authorized to perform: sqs:purgequeue", http.StatusOK, "sqs:PurgeQueue")
	want(sender, "q", "perform: sluice:PeekMessages", http.StatusOK, "sluice:PeekMessages")
	want(sender, "absent", "does not exist", http.StatusBadRequest, "sqs:SendMessage", "sqs:PurgeQueue")
	// To create a queue, it must not exist: permission for that reveals nothing about it.
	for _, queue := range []string{"q", "absent"} {
		want(r.root, queue, "sqs:CreateQueue true", http.StatusOK, "sqs:CreateQueue")
		want(sender, queue, "sqs:CreateQueue false User: ", http.StatusOK, "sqs:CreateQueue")
	}
	want(r.root, "absent", "does not exist", http.StatusBadRequest, "sqs:CreateQueue", "sqs:SendMessage")
	want(denied, "q", "explicit deny", http.StatusForbidden, "sqs:SendMessage")
	want(sender, "q", "There are 0 Actions", http.StatusBadRequest)
	want(sender, "q", "sqs:Fly", http.StatusBadRequest, "sqs:Fly")
	want(sender, "q", "not about queues", http.StatusBadRequest, "sns:Publish")

	// A request gets the same decision.
	url := arnURL(r, "q")
	_, err := sender.SQS.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &url})
	_, said := ask(sender, "q", "sqs:PurgeQueue")
	if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(said, "sqs:PurgeQueue false ")) {
		t.Errorf("the purge: %v; the check: %s", err, said)
	}
	// Callers without permission do not learn whether a queue exists.
	for _, who := range []*apitest.Actor{nothing, other} {
		there, text := ask(who, "q", "sqs:SendMessage", "sluice:PeekMessages")
		absent, same := ask(who, "absent", "sqs:SendMessage", "sluice:PeekMessages")
		if there != absent || text != same || strings.Contains(text, "true") {
			t.Errorf("for a queue: %d %s; for none: %d %s", there, text, absent, same)
		}
	}
}

// arnURL returns the URL of a queue of the first account, whether it exists or not.
func arnURL(r *rig, queue string) string {
	return r.server.Endpoint() + "/" + apitest.Account + "/" + queue
}

// list returns the objects of a list in an answer.
func list(of any) []object {
	var objects []object
	all, _ := of.([]any)
	for _, o := range all {
		objects = append(objects, o.(object))
	}
	return objects
}

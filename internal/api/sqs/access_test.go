package sqs_test

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// unsignedRegion is the region of unsigned requests, which all of these tests share. Each test has its own queue names.
const unsignedRegion = "us-east-1"

var names atomic.Int64

func newName() string { return fmt.Sprintf("shared-%d", names.Add(1)) }

// asOwner returns a client of the owner in the region of unsigned requests.
func asOwner(t *testing.T) *sdk {
	cred, _ := shared.RootOf(account)
	return sdkOf(t, shared, cred, unsignedRegion)
}

// asOther returns a client of another account.
func asOther(t *testing.T) *sdk {
	cred, _ := shared.RootOf(otherAccount)
	return sdkOf(t, shared, cred, unsignedRegion)
}

// asAnonymous returns a client that does not sign.
func asAnonymous(t *testing.T, options ...func(*sqs.Options)) *sdk {
	o := sqs.Options{
		Region: unsignedRegion, BaseEndpoint: aws.String(shared.Endpoint()), Retryer: aws.NopRetryer{},
		HTTPClient: apitest.HTTPClient(), Credentials: aws.AnonymousCredentials{},
	}
	return &sdk{Client: sqs.New(o, options...), T: t, Ctx: t.Context()}
}

func denying(principal, action, condition string) string {
	return strings.Replace(allowing(principal, action, "*", condition), `"Allow"`, `"Deny"`, 1)
}

// The permissions of each caller on a queue, by operation: without a policy, with a policy that shares all shareable
// actions, and with one that also denies.
func TestSharing(t *testing.T) {
	t.Parallel()
	shareable := []string{
		"ChangeMessageVisibility", "ChangeMessageVisibilityBatch", "DeleteMessage", "DeleteMessageBatch",
		"GetQueueAttributes",
		"GetQueueUrl", "ListDeadLetterSourceQueues", "PurgeQueue", "ReceiveMessage", "SendMessage", "SendMessageBatch",
	}
	own := []string{"CreateQueue", "ListQueues"} // about the caller's own account
	other, _ := shared.RootOf(otherAccount)
	for _, d := range apitest.Dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			c := newClient(t, d)
			c.Region = unsignedRegion
			prefix := newName() + "-"
			q, dlq := prefix+"q", prefix+"dlq"
			c.Make("CreateQueue", object{"QueueName": dlq})
			c.Make("CreateQueue", object{
				"QueueName": prefix + "source", "Attributes": object{"RedrivePolicy": redrive(c.ARN(dlq), 1)},
			})
			c.Make("CreateQueue", object{"QueueName": q})
			c.Make("SendMessage", object{"QueueUrl": c.URL(dlq), "MessageBody": "m"})
			c.Make("SendMessage", object{"QueueUrl": c.URL(q), "MessageBody": "m"})
			handle := c.Make("ReceiveMessage", object{
				"QueueUrl": c.URL(q), "VisibilityTimeout": 1000,
			})["Messages"].(list)[0].(object)["ReceiptHandle"].(string)
			task := c.Make("StartMessageMoveTask", object{
				"SourceArn": c.ARN(dlq), "MaxNumberOfMessagesPerSecond": 1,
			})["TaskHandle"].(string)

			inputs := apitest.ValidInputs(c, handle, task)
			for _, in := range inputs {
				for name, value := range map[string]string{
					"QueueUrl": c.URL(q), "SourceArn": c.ARN(dlq), "QueueName": q,
				} {
					if in[name] != nil {
						in[name] = value
					}
				}
			}
			set := func(statements ...string) {
				text := ""
				if len(statements) > 0 {
					text = `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
				}
				for _, name := range []string{q, dlq} {
					c.Make("SetQueueAttributes", object{"QueueUrl": c.URL(name), "Attributes": object{"Policy": text}})
				}
			}
			neighbour := c.As(other)
			callers := map[string]func(op string, in object) *answer{
				"other":     neighbour.Call,
				"anonymous": func(op string, in object) *answer { return c.Send(op, c.Request(op, in)) },
				"unknown": c.As(identity.Credential{
					Identity: identity.Root(account, "AKIAIOSFODNN7EXAMPLE"), Secret: c.Cred.Secret,
				}).Call,
			}
			check := func(who, how string, allowed func(op string) bool) {
				for _, op := range slices.Sorted(maps.Keys(inputs)) {
					if who == "other" && slices.Contains(own, op) {
						continue
					}
					a := callers[who](op, inputs[op])
					refused := a.Failed.Code == "AccessDenied" || a.Failed.Code == "InvalidClientTokenId" ||
						strings.Contains(a.Failed.Message, "or you do not have access to it")
					if refused == allowed(op) {
						t.Errorf("%s, %s: %s: %d %s", who, how, op, a.Status, a.Body)
					}
				}
			}
			never := func(string) bool { return false }
			onlyShared := func(op string) bool { return slices.Contains(shareable, op) }

			for _, who := range []string{"other", "anonymous", "unknown"} {
				check(who, "no policy", never)
			}
			set(allowing(otherAccount, "sqs:*", "*", ""))
			check("other", "shared with it", onlyShared)
			check("anonymous", "shared with another account", never)
			set(allowing("*", "sqs:*", "*", ""))
			check("anonymous", "shared with everybody", onlyShared)
			check("unknown", "shared with everybody", never)
			set(denying("*", "sqs:*", ""), allowing("*", "sqs:*", "*", ""))
			check("other", "denied", never)
			check("anonymous", "denied", never)
			c.Fails("SendMessage", object{"QueueUrl": c.URL(q), "MessageBody": "m"}, denied("User: "+c.Cred.ARN+
				" is not authorized to perform: sqs:sendmessage on resource: "+c.ARN(q)+
				" with an explicit deny in a resource-based policy"))
			set() // which the owner still can
			for _, who := range []string{"other", "anonymous"} {
				check(who, "policy removed", never)
			}
			c.Make("SendMessage", object{"QueueUrl": c.URL(q), "MessageBody": "m"})
		})
	}
}

// Permissions are added and removed by their labels, and take effect at once.
func TestPermissionsCountAtOnce(t *testing.T) {
	t.Parallel()
	a, b := asOwner(t), asOther(t)
	u := a.Create(newName(), comesBack)
	add := func(label string, actions ...string) {
		t.Helper()
		_, err := a.AddPermission(a.Ctx, &sqs.AddPermissionInput{
			QueueUrl: u, Label: &label, AWSAccountIds: []string{otherAccount}, Actions: actions,
		})
		apitest.Must(t, 0, err)
	}
	remove := func(label string) error {
		_, err := a.RemovePermission(a.Ctx, &sqs.RemovePermissionInput{QueueUrl: u, Label: &label})
		return err
	}
	const no = "because no resource-based policy allows the sqs:sendmessage action"
	sends := func(want string) {
		t.Helper()
		if got := b.TrySend(u); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	sends(no)
	add("all", "*")
	sends("")
	add("send", "SendMessage")
	apitest.Must(t, 0, remove("all"))
	sends("") // the other permission has another label
	apitest.Must(t, 0, remove("send"))
	sends(no)
	add("all", "*")
	if err := remove("SendMessage"); err == nil || !strings.Contains(err.Error(), "can't find label") {
		t.Errorf("a permission that does not exist is removed: %v", err)
	}
	sends("")

	// Batches need the permissions of their single actions.
	apitest.Must(t, 0, remove("all"))
	add("send", "SendMessage")
	out, err := b.SendMessageBatch(b.Ctx, &sqs.SendMessageBatchInput{
		QueueUrl: u,
		Entries:  []types.SendMessageBatchRequestEntry{{Id: aws.String("1"), MessageBody: aws.String("in a batch")}},
	})
	if got := apitest.Must(t, out, err); len(got.Successful) != 1 {
		t.Errorf("got %v", got)
	}
	_, err = b.ReceiveMessage(b.Ctx, &sqs.ReceiveMessageInput{QueueUrl: u})
	if got := b.Why(err); got != "because no resource-based policy allows the sqs:receivemessage action" {
		t.Errorf("receiving: %q", got)
	}
}

// A user of a shared queue finds it by its owner and sees all attributes but the policy. Its messages carry its id, or
// its address if it has none.
func TestUseOfASharedQueue(t *testing.T) {
	t.Parallel()
	a, b, anonymous := asOwner(t), asOther(t), asAnonymous(t)
	name := newName()
	u := a.Create(name, nil)
	find := func(c *sdk) (*sqs.GetQueueUrlOutput, error) {
		return c.GetQueueUrl(c.Ctx, &sqs.GetQueueUrlInput{
			QueueName: &name, QueueOwnerAWSAccountId: aws.String(account),
		})
	}
	_, err := find(b)
	apitest.Refused[*types.QueueDoesNotExist](t, err, "AWS.SimpleQueueService.NonExistentQueue")
	_, err = find(anonymous)
	if got := anonymous.Why(err); got != "because no resource-based policy allows the sqs:getqueueurl action" {
		t.Errorf("anonymous: %q", got)
	}
	a.SetPolicy(u, allowing("*", "sqs:*", "*", ""))
	for _, c := range []*sdk{b, anonymous} {
		out, err := find(c)
		if got := apitest.Must(t, out, err); *got.QueueUrl != *u {
			t.Errorf("found %s", *got.QueueUrl)
		}
		if got := c.Attributes(u); got["QueueArn"] == "" || got["Policy"] != "" {
			t.Errorf("the attributes are %v", got)
		}
		_, err = c.GetQueueAttributes(c.Ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: u, AttributeNames: []types.QueueAttributeName{"Policy"},
		})
		if got := c.Why(err); !strings.HasPrefix(got,
			"because the attribute Policy is shown to the queue's owner only") {
			t.Errorf("the policy is refused with %q", got)
		}
		c.Send(u, "m")
		got := c.Receive(u)
		want := otherAccount
		if c == anonymous {
			want = "127.0.0.1"
		}
		if len(got) != 1 || got[0].Attributes["SenderId"] != want {
			t.Fatalf("got %v, want the sender %s", got, want)
		}
		c.Delete(u, got...)
	}
	a.Counts(u, 0, 0, 0)
	if got := a.Attributes(u)["Policy"]; got == "" {
		t.Error("the owner does not see the policy")
	}
}

// Conditions apply to requests as they arrive over the wire.
func TestConditions(t *testing.T) {
	t.Parallel()
	a, b, anonymous := asOwner(t), asOther(t), asAnonymous(t)
	u := a.Create(newName(), nil)
	const refused = "because no resource-based policy allows the sqs:sendmessage action"
	far := func(d time.Duration) string { return time.Now().Add(d).UTC().Format("2006-01-02T15:04Z") }
	for _, tc := range []struct {
		condition string
		met       bool
	}{
		{`"IpAddress":{"aws:SourceIp":"127.0.0.0/8"}`, true},
		{`"IpAddress":{"aws:SourceIp":"10.52.176.0/24"}`, false},
		{`"NotIpAddress":{"AWS:SourceIp":"127.0.0.1/32"}`, false},
		{`"DateLessThan":{"AWS:CurrentTime":"` + far(time.Hour) + `"}`, true},
		{`"DateLessThan":{"AWS:CurrentTime":"` + far(-time.Hour) + `"}`, false},
		{`"DateGreaterThan":{"aws:CurrentTime":"` + far(-time.Hour) + `"},"DateLessThan":{"aws:CurrentTime":"` +
			far(time.Hour) + `"}`, true},
		{`"Bool":{"aws:SecureTransport":"true"}`, false},
		{`"Bool":{"aws:SecureTransport":false}`, true},
		{`"StringLike":{"aws:UserAgent":"aws-sdk-go-v2/*"}`, true},
		{`"StringLike":{"aws:UserAgent":"Boto3/*"}`, false},
		{`"StringEquals":{"aws:RequestedRegion":"` + unsignedRegion + `"}`, true},
		{`"Null":{"aws:MultiFactorAuthAge":"false"}`, false},
	} {
		a.SetPolicy(u, allowing("*", "sqs:SendMessage", "*", tc.condition))
		for _, c := range []*sdk{b, anonymous} {
			if got := c.TrySend(u); (got == "") != tc.met || got != "" && got != refused {
				t.Errorf("%s: %q", tc.condition, got)
			}
		}
		a.SetPolicy(u, allowing("*", "sqs:SendMessage", "*", ""), denying("*", "sqs:SendMessage", tc.condition))
		for _, c := range []*sdk{b, anonymous} {
			if got := c.TrySend(u); (got == "") == tc.met {
				t.Errorf("denied if %s: %q", tc.condition, got)
			}
		}
		want := ""
		if tc.met {
			want = "with an explicit deny in a resource-based policy"
		}
		if got := a.TrySend(u); got != want {
			t.Errorf("denied if %s: the owner gets %q", tc.condition, got)
		}
	}
	for condition, met := range map[string]bool{
		`"StringEquals":{"aws:principaltype":"Anonymous"}`:           false,
		`"StringEquals":{"aws:userid":"` + otherAccount + `"}`:       true,
		`"StringEquals":{"aws:PrincipalAccount":"` + account + `"}`:  false,
		`"ArnLike":{"aws:PrincipalArn":"arn:aws:iam::1111*:root"}`:   true,
		`"Null":{"aws:username":"true"}`:                             true,
		`"StringEqualsIfExists":{"aws:SourceVpce":"vpce-1"}`:         true,
		`"StringEquals":{"aws:ResourceTag/shared":"yes"}`:            true,
		`"StringEquals":{"aws:ResourceTag/shared":"no"}`:             false,
		`"StringEquals":{"aws:userid":["x","` + otherAccount + `"]}`: true,
	} {
		_, err := a.TagQueue(a.Ctx, &sqs.TagQueueInput{QueueUrl: u, Tags: map[string]string{"shared": "yes"}})
		apitest.Must(t, 0, err)
		a.SetPolicy(u, allowing("*", "sqs:SendMessage", "*", condition))
		if got := b.TrySend(u); (got == "") != met {
			t.Errorf("%s: %q", condition, got)
		}
	}
}

// Over TLS, or behind a proxy that reports TLS, aws:SecureTransport is true.
func TestSecureTransport(t *testing.T) {
	t.Parallel()
	secure := allowing("*", "sqs:SendMessage", "*", `"Bool":{"aws:SecureTransport":"true"}`)
	dir := t.TempDir()
	pool := apitest.Certificate(t, dir)
	c := servertest.InMemory()
	c.TLSCert, c.TLSKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	s, _ := servertest.Start(t, c)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	t.Cleanup(client.CloseIdleConnections)
	overTLS := func(o *sqs.Options) { o.BaseEndpoint, o.HTTPClient = aws.String(s.Endpoint()), client }
	owner := sdkOf(t, s, s.Root(), unsignedRegion, overTLS)
	u := owner.Create("q", nil)
	owner.SetPolicy(u, secure)
	if got := asAnonymous(t, overTLS).TrySend(u); got != "" {
		t.Errorf("over TLS: %q", got)
	}

	// Here, all clients in 10/8 must use TLS, and this test is the proxy.
	c = servertest.InMemory()
	c.TrustedProxies = []string{"127.0.0.1"}
	proxied, _ := servertest.Start(t, c)
	through := func(from, proto string) func(*sqs.Options) {
		return func(o *sqs.Options) {
			o.BaseEndpoint = aws.String(proxied.Endpoint())
			o.HTTPClient = withHeaders{"X-Forwarded-For": from, "X-Forwarded-Proto": proto}
		}
	}
	owner = sdkOf(t, proxied, proxied.Root(), unsignedRegion)
	u = owner.Create("q", nil)
	owner.SetPolicy(u, allowing("*", "sqs:SendMessage", "*", `"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}`),
		denying("*", "sqs:SendMessage", `"Bool":{"aws:SecureTransport":"false"}`))
	for _, tc := range []struct {
		from, proto string
		allowed     bool
	}{
		{"10.1.2.3", "https", true}, {"10.1.2.3", "http", false}, {"192.0.2.1", "https", false},
		{"10.1.2.3, 192.0.2.1", "https", false},
	} {
		if got := asAnonymous(t, through(tc.from, tc.proto)).TrySend(u); (got == "") != tc.allowed {
			t.Errorf("from %s over %s: %q", tc.from, tc.proto, got)
		}
	}
	// A server without trusted proxies ignores the headers.
	a := asOwner(t)
	u = a.Create(newName(), nil)
	a.SetPolicy(u, allowing("*", "sqs:SendMessage", "*", `"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}`), secure)
	if got := asAnonymous(t, func(o *sqs.Options) {
		o.HTTPClient = withHeaders{"X-Forwarded-For": "10.1.2.3", "X-Forwarded-Proto": "https"}
	}).TrySend(u); got == "" {
		t.Error("headers of untrusted senders count")
	}
}

// withHeaders is an HTTP client that adds headers, as a proxy does.
type withHeaders map[string]string

func (h withHeaders) Do(r *http.Request) (*http.Response, error) {
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultClient.Do(r)
}

// Messages can be moved to a queue of another account if its policy allows it.
func TestMoveToASharedQueue(t *testing.T) {
	t.Parallel()
	a, b := asOwner(t), asOther(t)
	source, dlq, theirs := newName(), newName(), newName()
	u := a.Create(dlq, nil)
	a.Create(source, map[string]string{"RedrivePolicy": redrive(a.ARN(u), 1)})
	a.Send(u, "to be moved")
	to := b.Create(theirs, nil)
	move := func(destination string) error {
		_, err := a.StartMessageMoveTask(a.Ctx, &sqs.StartMessageMoveTaskInput{
			SourceArn: aws.String(a.ARN(u)), DestinationArn: &destination,
		})
		return err
	}
	const no = "because no resource-based policy allows the sqs:sendmessage action"
	for _, destination := range []string{b.ARN(to), b.ARN(to) + "-that-does-not-exist"} {
		if got := a.Why(move(destination)); got != no {
			t.Errorf("to %s: %q", destination, got)
		}
	}
	b.SetPolicy(to, allowing(account, "sqs:SendMessage", "*", ""))
	if got := a.Why(move(b.ARN(to))); got != "" {
		t.Fatal(got)
	}
	got := b.Receive(to, func(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds = 20 })
	if len(got) != 1 || *got[0].Body != "to be moved" {
		t.Errorf("got %v", got)
	}
}

// A policy is returned as it was set, with all resources that it names. Statements about another queue have no effect
// here.
func TestPolicyOfOtherResources(t *testing.T) {
	t.Parallel()
	for _, d := range apitest.Dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			c := newClient(t, d)
			c.Region = unsignedRegion
			q := newName()
			c.Make("CreateQueue", object{"QueueName": q})
			for resource, admits := range map[string]bool{
				c.ARN(q): true, "*": true, account + "/" + q: true,
				c.ARN("another"): false, "no ARN": false, "a*": false, "": false,
			} {
				document := allowing("*", "sqs:SendMessage", resource, "")
				document = `{ "Version":"2012-10-17", "Statement":[` + document + `] }`
				c.Make("SetQueueAttributes", object{"QueueUrl": c.URL(q), "Attributes": object{"Policy": document}})
				got := c.Make("GetQueueAttributes", object{
					"QueueUrl": c.URL(q), "AttributeNames": list{"Policy"},
				})["Attributes"].(object)["Policy"]
				if got != document {
					t.Errorf("%q is returned as %v", document, got)
				}
				if got := asAnonymous(t).TrySend(aws.String(c.URL(q))) == ""; got != admits {
					t.Errorf("with the resource %q: admitted %t", resource, got)
				}
			}
		})
	}
}

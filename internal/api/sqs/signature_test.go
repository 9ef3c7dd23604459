package sqs_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sqsapi "github.com/sluicemq/sluice/internal/api/sqs"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
)

var (
	unknownKey = apitest.UnknownKey
	mismatch   = generic("InvalidSignatureException", "SignatureDoesNotMatch", 403,
		"The request signature we calculated does not match the signature you provided. "+
			"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
)

func badSignature(message string) refusal {
	return generic("InvalidSignatureException", "SignatureDoesNotMatch", 403, message)
}

func incomplete(message string) refusal {
	return generic("IncompleteSignatureException", "IncompleteSignature", 400, message)
}

// A wrong signature is refused in the protocol of the request.
func TestSignatureVersion4(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		send := func(name string, want refusal, prepare func(r *http.Request)) {
			t.Helper()
			r := c.Request("ListQueues", object{"QueueNamePrefix": "a b"})
			prepare(r)
			a := c.Send("ListQueues", r)
			// The message contains the current time.
			if strings.HasPrefix(want.Message, "^") {
				if !regexp.MustCompile(want.Message).MatchString(a.Failed.Message) {
					t.Errorf("%s: %q", name, a.Failed.Message)
				}
				want.Message = a.Failed.Message
			}
			c.Compare(name, nil, a, want)
		}
		sign := func(r *http.Request, cred identity.Credential, service, region string, offset time.Duration) {
			apitest.SignAt(t, r, cred, service, region, time.Now().Add(offset))
		}
		stranger := identity.Credential{Identity: identity.Root(account, "AKIAIOSFODNN7EXAMPLE"), Secret: c.Cred.Secret}
		liar := identity.Credential{Identity: c.Cred.Identity, Secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}

		send("unsigned", denied("Access to the resource "+c.Base+"/ is denied."), func(*http.Request) {})
		send("unknown key", unknownKey, func(r *http.Request) { sign(r, stranger, "sqs", c.Region, 0) })
		send("wrong secret", mismatch, func(r *http.Request) { sign(r, liar, "sqs", c.Region, 0) })
		send("wrong path", mismatch, func(r *http.Request) {
			sign(r, c.Cred, "sqs", c.Region, 0)
			r.URL.Path = "/other"
		})
		send("wrong host", mismatch, func(r *http.Request) {
			sign(r, c.Cred, "sqs", c.Region, 0)
			r.Host = "sqs.example.com"
		})
		send("too old",
			badSignature(`^Signature expired: \d{8}T\d{6}Z is now earlier than \d{8}T\d{6}Z \(\d{8}T\d{6}Z - 15 min\.\)$`),
			func(r *http.Request) { sign(r, c.Cred, "sqs", c.Region, -20*time.Minute) })
		send("too new",
			badSignature(`^Signature not yet current: \d{8}T\d{6}Z is still later than \d{8}T\d{6}Z \(\d{8}T\d{6}Z \+ 15 min\.\)$`),
			func(r *http.Request) { sign(r, c.Cred, "sqs", c.Region, 20*time.Minute) })
		send("wrong service", badSignature("Credential should be scoped to correct service: 'sqs'."),
			func(r *http.Request) { sign(r, c.Cred, "ec2", c.Region, 0) })
		send("no region", badSignature("Credential should be scoped to a valid region, not 'US_East'. "),
			func(r *http.Request) { sign(r, c.Cred, "sqs", "US_East", 0) })
		send("token", unknownKey, func(r *http.Request) {
			credentials := aws.Credentials{
				AccessKeyID: c.Cred.AccessKeyID, SecretAccessKey: c.Cred.Secret, SessionToken: "made-up",
			}
			if err := v4.NewSigner().SignHTTP(context.Background(), credentials, r, apitest.BodyHash(t, r), "sqs",
				c.Region, time.Now()); err != nil {
				t.Fatal(err)
			}
		})
		send("not a signature", incomplete("Unsupported AWS 'algorithm': 'Basic' (only AWS4-HMAC-SHA256 for now)."),
			func(r *http.Request) {
				sign(r, c.Cred, "sqs", c.Region, 0)
				r.Header.Set("Authorization",
					strings.Replace(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256", "Basic", 1))
			})
		send("no equals sign",
			incomplete("'x' not a valid key=value pair (missing equal-sign) in Authorization header: 'AWS4-HMAC-SHA256 x'."),
			func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 x") })
		send("short credential",
			incomplete("Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'a/b'"),
			func(r *http.Request) {
				r.Header.Set("X-Amz-Date", "20250101T000000Z")
				r.Header.Set("Authorization",
					"AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00")
			})
		if c.Dialect != inURL {
			send("another body", mismatch, func(r *http.Request) {
				sign(r, c.Cred, "sqs", c.Region, 0)
				body := `{"QueueNamePrefix":"c"}`
				if c.Dialect == inForm {
					body = "Action=ListQueues&Version=2012-11-05"
				}
				other := c.NewRequest(http.MethodPost, "", body)
				r.Body, r.ContentLength = other.Body, other.ContentLength
			})
		}

		if c.Dialect == inJSON {
			return // signers also move X-Amz-Target into the URL, which no server understands
		}
		presign := func(r *http.Request, cred identity.Credential, offset time.Duration) *http.Request {
			credentials := aws.Credentials{AccessKeyID: cred.AccessKeyID, SecretAccessKey: cred.Secret}
			uri, headers, err := v4.NewSigner().PresignHTTP(context.Background(), credentials, r,
				apitest.BodyHash(t, r), "sqs", c.Region, time.Now().Add(offset))
			if err != nil {
				t.Fatal(err)
			}
			body, _ := r.GetBody()
			out, err := http.NewRequest(r.Method, uri, body)
			if err != nil {
				t.Fatal(err)
			}
			out.Header = headers
			out.Header.Del("Host")
			out.Header.Del("Content-Length")
			out.ContentLength = r.ContentLength
			return out
		}
		request := func() *http.Request { return c.Request("ListQueues", nil) }
		if a := c.Send("ListQueues", presign(request(), c.Cred, 0)); a.Status != 200 {
			t.Errorf("presigned: %d %s", a.Status, a.Body)
		}
		c.Compare("presigned, wrong secret", nil, c.Send("ListQueues", presign(request(), liar, 0)), mismatch)
		c.Compare("presigned, unknown key", nil, c.Send("ListQueues", presign(request(), stranger, 0)), unknownKey)
		a := c.Send("ListQueues", presign(request(), c.Cred, -16*time.Minute))
		if a.Failed.Code != "SignatureDoesNotMatch" || !strings.HasPrefix(a.Failed.Message, "Signature expired: ") {
			t.Errorf("presigned too long ago: %+v", a.Failed)
		}
	})
}

func TestSignatureVersion2(t *testing.T) {
	t.Parallel()
	for _, d := range []apitest.Dialect{inForm, inURL} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			c := newClient(t, d)
			c.Region = "us-east-1" // of requests that do not say theirs
			name := "v2-" + d.String()
			in := object{"QueueName": name, "Attributes": object{"Policy": "", "VisibilityTimeout": "40"}}
			request := func() *http.Request {
				if d == inURL {
					return c.NewRequest(http.MethodGet, "", "")
				}
				return c.NewRequest(http.MethodPost, "", "")
			}
			send := func(o apitest.Version2) *answer {
				t.Helper()
				return c.Send("CreateQueue", apitest.SignVersion2(t, request(), c.Form("CreateQueue", in), c.Cred, o))
			}
			for _, method := range []string{"HmacSHA256", "HmacSHA1"} {
				for _, expires := range []bool{false, true} {
					if a := send(apitest.Version2{
						Method: method, Expires: expires,
					}); a.Status != 200 || a.Result["QueueUrl"] != c.URL(name) {
						t.Errorf("%s, Expires %v: %d %s", method, expires, a.Status, a.Body)
					}
				}
			}
			// A queue name full of characters that need escaping.
			body := "a b+c&d=e%f~g*h'(é)/\r\n"
			r := apitest.SignVersion2(t, request(),
				c.Form("SendMessage", object{"QueueUrl": name, "MessageBody": body}), c.Cred, apitest.Version2{})
			if a := c.Send("SendMessage", r); a.Status != 200 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if m := c.Make("ReceiveMessage", object{
				"QueueUrl": name,
			}); m["Messages"].(list)[0].(object)["Body"] != body {
				t.Errorf("%q is returned as %v", body, m)
			}

			set := func(name, value string) func(url.Values) {
				return func(v url.Values) {
					v.Set(name, value)
					if value == "" {
						v.Del(name)
					}
				}
			}
			query := func(code string, status int, message string) refusal {
				return refusal{Code: code, Status: status, Message: message}
			}
			c.Compare("tampered", nil, send(apitest.Version2{Tamper: set("QueueName", "other")}), mismatch)
			c.Compare("no base64", nil, send(apitest.Version2{Tamper: set("Signature", "?")}), mismatch)
			c.Compare("wrong method", nil, send(apitest.Version2{Tamper: set("SignatureMethod", "HmacSHA1")}), mismatch)
			c.Compare("unknown method", nil, send(apitest.Version2{Tamper: set("SignatureMethod", "HmacMD5")}),
				query("InvalidParameterValue", 400,
					"Value (HmacMD5) for parameter SignatureMethod is invalid. Reason: Must be HmacSHA256 or HmacSHA1."))
			c.Compare("version 1", nil, send(apitest.Version2{Tamper: set("SignatureVersion", "1")}),
				query("InvalidParameterValue", 400,
					"Value (1) for parameter SignatureVersion is invalid. Reason: Must be 2."))
			c.Compare("unknown key", nil, send(apitest.Version2{Tamper: set("AWSAccessKeyId", "AKIAIOSFODNN7EXAMPLE")}),
				query("InvalidClientTokenId", 403, "The AWS Access Key Id you provided does not exist in our records."))
			c.Compare("no key", nil, send(apitest.Version2{Tamper: set("AWSAccessKeyId", "")}),
				query("MissingParameter", 400, "Request must contain AWSAccessKeyId or X.509 certificate."))
			c.Compare("no signature", nil, send(apitest.Version2{Tamper: set("Signature", "")}), missing("Signature"))
			c.Compare("no time", nil, send(apitest.Version2{Tamper: set("Timestamp", "")}),
				query("MissingParameter", 400, "The request must contain the parameter Timestamp or Expires."))
			c.Compare("both times", nil, send(apitest.Version2{More: url.Values{"Expires": {"2099-01-01T00:00:00Z"}}}),
				query("InvalidParameterCombination", 400,
					"The parameters Timestamp and Expires must not be used together."))
			c.Compare("token", nil, send(apitest.Version2{More: url.Values{"SecurityToken": {"made-up"}}}), unknownKey)
			for name, o := range map[string]apitest.Version2{
				"Timestamp": {Offset: -20 * time.Minute}, "Expires": {Offset: -20 * time.Minute, Expires: true},
			} {
				a := send(o)
				if a.Status != 400 || a.Failed.Code != "RequestExpired" ||
					!strings.HasPrefix(a.Failed.Message, "Request has expired. "+name+" date: ") {
					t.Errorf("%s in the past: %d %+v", name, a.Status, a.Failed)
				}
			}
			if urls := c.Make("ListQueues", object{"QueueNamePrefix": "other"}); len(urls) > 0 {
				t.Errorf("there is %v", urls)
			}
		})
	}

	// It is valid for Query only: it does not cover the body of a JSON request.
	c := newClient(t, inJSON)
	r := c.JSONRequest("ListQueues", "{}")
	r.URL.RawQuery = apitest.SignVersion2(t, c.NewRequest(http.MethodGet, "", ""), url.Values{}, c.Cred,
		apitest.Version2{}).URL.RawQuery
	c.Compare("JSON", nil, c.Send("ListQueues", r),
		incomplete("Signature Version 2 is for requests of the Query protocol only."))
}

// noPolicyAllows is the refusal for callers of other accounts than the resource's, or of none.
func noPolicyAllows(who, op, arn string) refusal {
	action := "sqs:" + strings.ToLower(strings.TrimSuffix(op, "Batch"))
	return denied("User: " + who + " is not authorized to perform: " + action + " on resource: " + arn +
		" because no resource-based policy allows the " + action + " action")
}

// unsignedARN is the resource of an unsigned request, which does not name its region.
func unsignedARN(c *client, op string, in object) string {
	switch {
	case in["SourceArn"] != nil:
		return in["SourceArn"].(string)
	case op == "CancelMessageMoveTask":
		return c.ARN("dlq")
	case op == "ListDeadLetterSourceQueues":
		return "arn:aws:sqs:us-east-1:" + account + ":dlq"
	}
	return "arn:aws:sqs:us-east-1:" + account + ":q"
}

// Without a policy only the owner may do anything, with every operation and either protocol.
func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	operations := sqsapi.OperationNames(t)
	if len(operations) != 23 {
		t.Errorf("there are %d operations", len(operations))
	}
	other, _ := shared.RootOf(otherAccount)
	inAll(t, func(t *testing.T, c *client) {
		for _, name := range []string{"dlq", "other-dlq"} {
			c.Make("CreateQueue", object{"QueueName": name})
			c.Make("CreateQueue", object{
				"QueueName": "source-of-" + name, "Attributes": object{"RedrivePolicy": redrive(c.ARN(name), 1)},
			})
		}
		c.Make("CreateQueue", object{"QueueName": "q", "tags": object{"k": "v"}})
		c.Make("AddPermission", object{
			"QueueUrl": c.URL("q"), "Label": "taken", "AWSAccountIds": list{account}, "Actions": list{"PurgeQueue"},
		})
		c.Make("SendMessage", object{"QueueUrl": c.URL("dlq"), "MessageBody": "m"})
		c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
		handle := c.Make("ReceiveMessage", object{
			"QueueUrl": c.URL("q"), "VisibilityTimeout": 1000,
		})["Messages"].(list)[0].(object)["ReceiptHandle"].(string)
		task := c.Make("StartMessageMoveTask", object{
			"SourceArn": c.ARN("dlq"), "DestinationArn": c.ARN("source-of-dlq"), "MaxNumberOfMessagesPerSecond": 1,
		})["TaskHandle"].(string)
		c.Make("CancelMessageMoveTask", object{"TaskHandle": task}) // so that nothing changes by itself
		inputs := apitest.ValidInputs(c, handle, task)
		before := dumpRegion(c)

		stranger := c.As(identity.Credential{
			Identity: identity.Root(account, "AKIAIOSFODNN7EXAMPLE"), Secret: c.Cred.Secret,
		})
		neighbour := c.As(other)
		foreign := c.Make("ListQueues", nil)
		for _, op := range operations {
			in := inputs[op]
			if in == nil {
				t.Fatalf("the table lacks an input for %s", op)
			}
			for i, in := range []object{in, {},
				{"QueueUrl": 1, "SourceArn": "x", "TaskHandle": "x", "MaxResults": "x"}} {
				want := denied("Access to the resource " + c.Base + "/ is denied.")
				if i == 0 && op != "CreateQueue" && op != "ListQueues" { // which name no account
					want = noPolicyAllows("anonymous", op, unsignedARN(c, op, in))
				}
				c.Compare(op+" unsigned", in, c.Send(op, c.Request(op, in)), want)
				stranger.Fails(op, in, unknownKey)
			}
			switch op {
			case "ListQueues":
				neighbour.OK(op, in, object{}) // of which it has none
			case "CreateQueue":
				u := "/" + otherAccount + "/new"
				neighbour.OK(op, in, object{"QueueUrl": c.Base + u})
				neighbour.Make("DeleteQueue", object{"QueueUrl": c.Base + u})
			case "GetQueueUrl":
				noAccess := noQueue
				noAccess.Message, noAccess.QueryMessage = "The specified queue does not exist or you do not have access to it.", ""
				neighbour.Fails(op, in, noAccess)
				in["QueueName"] = "nobody"
				neighbour.Fails(op, in, noAccess)
			default:
				// The answer does not reveal whether the queue exists.
				for _, name := range []string{"q", "nobody"} {
					arn := c.ARN(name)
					if in["QueueUrl"] != nil {
						in["QueueUrl"] = c.URL(name)
					} else {
						arn = c.ARN("dlq")
						if op == "StartMessageMoveTask" {
							arn = c.ARN("other-dlq")
						}
					}
					neighbour.Fails(op, in, noPolicyAllows(other.ARN, op, arn))
				}
			}
		}
		if after := dumpRegion(c); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("the state has changed:\nbefore %v\nafter  %v", before, after)
		}
		if got := c.Make("ListQueues", nil); !slices.Equal(got["QueueUrls"].(list), foreign["QueueUrls"].(list)) {
			t.Errorf("the queues are now %v", got)
		}
	})
}

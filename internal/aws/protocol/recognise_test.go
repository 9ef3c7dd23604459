package protocol_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

func TestRecognise(t *testing.T) {
	t.Parallel()
	type headers map[string]string
	json10 := headers{"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "AmazonSQS.ReceiveMessage"}
	asForm := headers{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}

	// The expected result is "json 1.0 Target Operation" or "query Version Operation a=b,c=d"; or the error of the
	// refusal, after its protocol.
	f := func(method, url string, h headers, body, want string) {
		t.Helper()
		r := httptest.NewRequest(method, url, nil)
		for k, v := range h {
			r.Header.Set(k, v)
		}
		req, err := protocol.Recognise(r, []byte(body))
		var got string
		switch {
		case err != nil:
			got = req.Kind.String() + " " + refusal(err).Code
		case req.Kind == protocol.JSON:
			got = "json " + strings.TrimPrefix(req.ContentType, "application/x-amz-json-") + " " + req.Target + " " +
				req.Operation
		default:
			var ps []string
			for _, p := range req.Form {
				if p.Name != "Action" && p.Name != "Version" {
					ps = append(ps, p.Name+"="+p.Value)
				}
			}
			got = "query " + req.Version + " " + req.Operation + " " + strings.Join(ps, ",")
		}
		if got != want {
			t.Errorf("%s %s %v %q is %q, want %q", method, url, h, body, got, want)
		}
		if path, _, _ := strings.Cut(url, "?"); req.Path != path {
			t.Errorf("path is %q, want %q", req.Path, path)
		}
	}
	f("POST", "/", json10, "{}", "json 1.0 AmazonSQS ReceiveMessage")
	f("POST", "/123456789012/q", json10, "{}", "json 1.0 AmazonSQS ReceiveMessage")
	f("POST", "/?Action=Else", json10, "{}", "json 1.0 AmazonSQS ReceiveMessage")
	f("POST", "/",
		headers{
			"Content-Type": "Application/X-Amz-Json-1.1; charset=utf-8",
			"X-Amz-Target": "com.amazonaws.cloudtrail.v1.CloudTrail_1.Get",
		}, "{}",
		"json 1.1 com.amazonaws.cloudtrail.v1.CloudTrail_1 Get")
	f("POST", "/", headers{"X-Amz-Target": "AmazonSQS.Get"}, "{}", "json 1.0 AmazonSQS Get")
	f("POST", "/", headers{"X-Amz-Target": "Get"}, "{}", "json 1.0  Get")
	f("POST", "/", headers{"Content-Type": "application/x-amz-json-1.0"}, "{}", "json InvalidAction")
	f("PUT", "/", json10, "{}", "json InvalidHttpRequest")

	f("POST", "/", asForm, "Action=A&Version=2012-11-05&b=c", "query 2012-11-05 A b=c")
	f("POST", "/", headers{"Content-Type": asForm["Content-Type"], "X-Amz-Target": "AmazonSQS.ReceiveMessage"},
		"Action=A&b=c", "query  A b=c")
	f("POST", "/", headers{"Content-Type": "application/x-www-form-urlencodedX"}, "Action=A&b=c",
		"query UnknownOperationException")
	f("POST", "/1/q/", asForm, "Action=A", "query  A ")
	f("GET", "/1/q?Action=A&b=%C3%BC+%2B", nil, "", "query  A b=ü +")
	f("GET", "/?Action=A", nil, "Action=B", "query  A ")
	f("GET", "/?Action=A", json10, "", "query  A ")
	f("POST", "/?Action=A&x=1", nil, "x=2", "query  A x=2,x=1")
	f("POST", "/?Action=A&x=1", asForm, "x=2&Action=B", "query  B x=2,x=1")
	f("POST", "/?Action=A", headers{"Content-Type": "text/plain"}, "x=2", "query  A ")

	f("GET", "/1/q", nil, "", "query UnknownOperationException")
	f("GET", "/1/q", headers{"Accept": "application/json"}, "", "query UnknownOperationException")
	f("GET", "/", asForm, "", "query UnknownOperationException")
	f("POST", "/", headers{"Content-Type": "application/json"}, "{}", "query UnknownOperationException")
	f("POST", "/", nil, "", "query UnknownOperationException")
	f("POST", "/", asForm, "Version=2012-11-05", "query MissingAction")
	f("POST", "/", asForm, "Action=%", "query MalformedQueryString")
	f("GET", "/?Action=A&b=%zz", nil, "", "query MalformedQueryString")
	f("POST", "/", headers{"Content-Type": "text/xml; charset=utf-8"}, "<x/>", "query InvalidRequest")
	f("POST", "/", headers{"Content-Type": "application/soap+xml"}, "<x/>", "query InvalidRequest")
	f("POST", "/", headers{"SOAPAction": ""}, "<x/>", "query InvalidRequest")
	f("HEAD", "/", nil, "", "query InvalidHttpRequest")
	f("PUT", "/?Action=A", asForm, "", "query InvalidHttpRequest")
}

func TestRecogniseAccept(t *testing.T) {
	t.Parallel()
	f := func(accept string, want bool) {
		t.Helper()
		r := httptest.NewRequest("GET", "/?Action=A", nil)
		r.Header.Set("Accept", accept)
		req, err := protocol.Recognise(r, nil)
		if err != nil || req.AcceptJSON != want {
			t.Errorf("%s: %v, error %v", accept, req.AcceptJSON, err)
		}
	}
	f("application/json", true)
	f("text/plain, Application/JSON;q=0.9", true)
	f("*/*", false)
	f("text/xml", false)
	f("", false)
}

func TestLookup(t *testing.T) {
	t.Parallel()
	s := newService()
	f := func(req protocol.Request, wantCode, wantVersion string) {
		t.Helper()
		op, err := s.Lookup(&req)
		code := ""
		if err != nil {
			code = refusal(err).Code
		} else if op.Name != req.Operation {
			t.Errorf("%s is found as %s", req.Operation, op.Name)
		}
		if code != wantCode || req.Version != wantVersion {
			t.Errorf("%+v: version %q, error %v, want %q and %q", req, req.Version, err, wantVersion, wantCode)
		}
	}
	json := func(target, operation, path string) protocol.Request {
		return protocol.Request{Kind: protocol.JSON, Target: target, Operation: operation, Path: path}
	}
	f(json("AmazonSQS", "CreateQueue", "/"), "", "")
	f(json("com.example.AmazonSQS", "CreateQueue", "/1/q"), "", "")
	f(json("AmazonSQS", "FooBar", "/"), "InvalidAction", "")
	f(json("AmazonSNS", "CreateQueue", "/"), "InvalidAction", "")
	f(json("", "CreateQueue", "/"), "InvalidAction", "")

	query := func(version, operation, path string) protocol.Request {
		return protocol.Request{Version: version, Operation: operation, Path: path}
	}
	f(query("", "SendMessage", "/1/q"), "", "2012-11-05")
	f(query("2008-01-01", "SendMessage", "/"), "", "2008-01-01")
	f(query("2012-11-06", "SendMessage", "/"), "NoSuchVersion", "2012-11-06")
	f(query("2012-11", "SendMessage", "/"), "MalformedVersion", "2012-11")
	f(query("2012-11-05", "FooBar", "/"), "InvalidAction", "2012-11-05")
	f(query("", "CreateQueue", "/"), "", "2012-11-05")
	f(query("", "CreateQueue", ""), "", "2012-11-05")
	f(query("", "CreateQueue", "/1/q"), "InvalidAction", "")

	_, failed := s.Lookup(&protocol.Request{Operation: "FooBar"})
	err := refusal(failed)
	if want := "The action FooBar is not valid for this endpoint."; err.Message != want || err.Status != 400 {
		t.Errorf("an unknown action is refused with %d %s", err.Status, err.Message)
	}
}

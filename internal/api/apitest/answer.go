package apitest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Result Object // of a success, as the JSON protocol would have it, with all scalars as text
	Failed Refusal
}

// silent are the operations whose success has no output.
var silent = []string{
	"AddPermission", "RemovePermission", "ChangeMessageVisibility", "DeleteMessage", "DeleteQueue",
	"PurgeQueue", "SetQueueAttributes", "TagQueue", "UntagQueue",
}

func (a *Answer) readJSON(t *testing.T, op string) {
	t.Helper()
	if got := a.Header.Get("Content-Type"); got != "application/x-amz-json-1.0" {
		t.Errorf("%s: Content-Type is %q", op, got)
	}
	if a.Status == http.StatusOK {
		if slices.Contains(silent, op) {
			if len(a.Body) != 0 {
				t.Errorf("%s: the body is %q, want none", op, a.Body)
			}
			a.Result = Object{}
			return
		}
		a.Result = asText(a.parse(t, op)).(Object)
		return
	}
	m := a.parse(t, op)
	a.Failed.Shape, _ = m["__type"].(string)
	key := "message"
	if strings.HasSuffix(a.Failed.Shape, "#AccessDeniedException") {
		key = "Message"
	}
	a.Failed.Message, _ = m[key].(string)
	if len(m) != 2 || a.Body[len(a.Body)-1] != '}' {
		t.Errorf("%s: the body is %q, want __type and %s only", op, a.Body, key)
	}
	code, fault, _ := strings.Cut(a.Header.Get("x-amzn-query-error"), ";")
	a.Failed.Code = code
	if want := fault == "Sender"; want != (a.Status < 500) {
		t.Errorf("%s: x-amzn-query-error is %q", op, a.Header.Get("x-amzn-query-error"))
	}
}

func (a *Answer) parse(t *testing.T, op string) Object {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber()
	var m Object
	if err := d.Decode(&m); err != nil || d.More() {
		t.Fatalf("%s: the body is %q: %v", op, a.Body, err)
	}
	return m
}

// element is an XML element.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func (n *element) child(name string) *element {
	for i := range n.Children {
		if n.Children[i].XMLName.Local == name {
			return &n.Children[i]
		}
	}
	return &element{}
}

func (a *Answer) readXML(t *testing.T, op, version string) {
	t.Helper()
	var root element
	if got := a.Header.Get("Content-Type"); got != "text/xml" {
		t.Errorf("%s: Content-Type is %q", op, got)
	}
	if !bytes.HasPrefix(a.Body, []byte(`<?xml version="1.0"?><`)) {
		t.Fatalf("%s: the body is %q", op, a.Body)
	}
	if err := xml.Unmarshal(a.Body, &root); err != nil {
		t.Fatalf("%s: %v in %q", op, err, a.Body)
	}
	if version == "" {
		version = "2012-11-05"
	}
	if want := "http://queue.amazonaws.com/doc/" + version + "/"; root.XMLName.Space != want &&
		a.Status == http.StatusOK {
		t.Errorf("%s: the namespace is %q, want %q", op, root.XMLName.Space, want)
	}
	metadata := &root
	if a.Status == http.StatusOK {
		metadata = root.child("ResponseMetadata")
		want := []string{op + "Result", "ResponseMetadata"}
		if slices.Contains(silent, op) {
			want = want[1:]
		}
		var got []string
		for _, n := range root.Children {
			got = append(got, n.XMLName.Local)
		}
		if root.XMLName.Local != op+"Response" || !slices.Equal(got, want) {
			t.Errorf("%s: the document is %q", op, a.Body)
		}
		a.Result = fromXML(op, root.child(op+"Result"))
	} else {
		e := root.child("Error")
		if root.XMLName.Local != "ErrorResponse" || len(root.Children) != 2 || len(e.Children) != 4 ||
			!bytes.Contains(a.Body, []byte("<Detail/>")) {
			t.Errorf("%s: the document is %q", op, a.Body)
		}
		a.Failed.Code, a.Failed.Message = e.child("Code").Text, e.child("Message").Text
		if want := e.child("Type").Text == "Sender"; want != (a.Status < 500) {
			t.Errorf("%s: the fault is in %q", op, a.Body)
		}
	}
	if got := metadata.child("RequestId").Text; got != a.Header.Get("x-amzn-RequestId") {
		t.Errorf("%s: RequestId is %q, the header says %q", op, got, a.Header.Get("x-amzn-RequestId"))
	}
}

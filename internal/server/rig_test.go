package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

const (
	account      = "000000000000"
	otherAccount = "111111111111"
)

// shared is a server in memory for all tests that need nothing special of it.
// Each of them takes a region of its own.
var shared *Server

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func runTests(m *testing.M) (int, error) {
	s, err := Start(inMemory())
	if err != nil {
		return 1, err
	}
	shared = s
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	code := m.Run()
	cancel()
	if err := <-done; err != nil {
		return 1, err
	}
	return code, nil
}

// inMemory is the configuration of shared: messages may be as large as on AWS
// today, which is what the texts of its errors say.
func inMemory() Config {
	c := Default()
	c.InMemory = true
	c.Listen = "127.0.0.1:0"
	c.Accounts = []string{account, otherAccount}
	c.MaxMessageSize = 1_048_576
	return c
}

// start runs a server of the test's own. What it returns stops the server and
// waits until it is done; that happens at the end of the test at the latest.
func start(t *testing.T, c Config) (s *Server, stop func() error) {
	t.Helper()
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, run(t, s)
}

// run serves until the test ends or stop is called.
func run(t *testing.T, s *Server) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var result error
	go func() {
		result = s.Run(ctx)
		close(done)
	}()
	stop = func() error {
		cancel()
		<-done
		return result
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("the server stopped with %v", err)
		}
	})
	return stop
}

var regions atomic.Int64

// newRegion returns the name of a region that nobody else uses.
func newRegion() string { return fmt.Sprintf("xx-test-%d", regions.Add(1)) }

// dialect is a way to say the same thing.
type dialect int

const (
	inJSON dialect = iota
	inForm         // Query, with POST
	inURL          // Query, with GET
)

func (d dialect) String() string { return [...]string{"json", "query-post", "query-get"}[d] }

var dialects = []dialect{inJSON, inForm, inURL}

// inAll runs f with a client of each dialect, in a region of its own.
func inAll(t *testing.T, f func(t *testing.T, c *client)) {
	t.Helper()
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			f(t, newClient(t, d))
		})
	}
}

// client makes signed requests, one at a time, and checks of each answer what
// must be so of all.
type client struct {
	T       *testing.T
	Dialect dialect
	Base    string // of the server
	Region  string
	Cred    identity.Credential
	Version string // of Query requests, may be empty
	Path    string // to send requests to
}

func newClient(t *testing.T, d dialect) *client {
	cred, _ := shared.credentials.Root(account)
	return &client{
		T: t, Dialect: d, Base: shared.Endpoint(), Region: newRegion(), Cred: cred,
		Version: "2012-11-05", Path: "/",
	}
}

// as returns the client as somebody else.
func (c *client) As(cred identity.Credential) *client {
	other := *c
	other.Cred = cred
	return &other
}

// at returns the client with another path.
func (c *client) At(path string) *client {
	other := *c
	other.Path = path
	return &other
}

func (c *client) URL(queue string) string { return c.Base + "/" + account + "/" + queue }
func (c *client) ARN(queue string) string {
	return "arn:aws:sqs:" + c.Region + ":" + account + ":" + queue
}

type (
	object = map[string]any
	list   = []any
)

// refusal is what a request is to fail with.
type refusal struct {
	Shape        string // with its namespace
	Code         string
	Status       int
	Message      string
	QueryMessage string // if it differs
}

// answer is what has come back.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
	Result object // of a success, as the JSON protocol would have it, with all scalars as text
	Failed refusal
}

// make calls op and returns the result. A failure ends the test.
func (c *client) Make(op string, in object) object {
	c.T.Helper()
	a := c.Call(op, in)
	if a.Status != http.StatusOK {
		c.T.Fatalf("%s %s: %d %s", op, brief(in), a.Status, a.Body)
	}
	return a.Result
}

// ok calls op and compares the result with want: all of it, keys too.
func (c *client) OK(op string, in, want object) object {
	c.T.Helper()
	got := c.Make(op, in)
	if err := match(want, got); err != nil {
		c.T.Errorf("%s %s: %v\ngot %v", op, brief(in), err, got)
	}
	return got
}

// fails calls op, which is to be refused.
func (c *client) Fails(op string, in object, want refusal) {
	c.T.Helper()
	a := c.Call(op, in)
	if a.Status == http.StatusOK {
		c.T.Errorf("%s %v succeeded, want %s", op, brief(in), want.Code)
		return
	}
	c.Compare(op, in, a, want)
}

func (c *client) Compare(op string, in object, a *answer, want refusal) {
	c.T.Helper()
	message := want.Message
	if c.Dialect != inJSON {
		want.Shape = ""
		if want.QueryMessage != "" {
			message = want.QueryMessage
		}
	}
	if c.Dialect != inJSON {
		message = strings.ReplaceAll(message, "\x00", "\uFFFD") // which XML cannot express
	}
	want.Message, want.QueryMessage = message, ""
	if a.Failed != want {
		c.T.Errorf("%s %s\ngot  %+v\nwant %+v", op, brief(in), a.Failed, want)
	}
}

func brief(in object) string {
	text := fmt.Sprint(in)
	if len(text) > 300 {
		return text[:300] + "..."
	}
	return text
}

func (c *client) Call(op string, in object) *answer {
	c.T.Helper()
	r := c.Request(op, in)
	c.Sign(r)
	return c.Send(op, r)
}

// request makes an unsigned request.
func (c *client) Request(op string, in object) *http.Request {
	c.T.Helper()
	if c.Dialect == inJSON {
		if in == nil {
			in = object{}
		}
		body, err := json.Marshal(in)
		if err != nil {
			c.T.Fatal(err)
		}
		return c.JSONRequest(op, string(body))
	}
	return c.FormRequest(c.Dialect, c.Form(op, in).Encode())
}

func (c *client) Form(op string, in object) url.Values {
	form := url.Values{"Action": {op}}
	if c.Version != "" {
		form.Set("Version", c.Version)
	}
	addForm(form, op, "", in)
	return form
}

func (c *client) JSONRequest(op, body string) *http.Request {
	c.T.Helper()
	r := c.NewRequest(http.MethodPost, "", body)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonSQS."+op)
	return r
}

func (c *client) FormRequest(d dialect, form string) *http.Request {
	c.T.Helper()
	const most = 32 << 10 // of what fits into a URL
	if d == inURL && len(form) < most {
		return c.NewRequest(http.MethodGet, "?"+form, "")
	}
	r := c.NewRequest(http.MethodPost, "", form)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	return r
}

func (c *client) NewRequest(method, query, body string) *http.Request {
	c.T.Helper()
	r, err := http.NewRequest(method, c.Base+c.Path+query, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	return r
}

// sign signs r with Signature Version 4.
func (c *client) Sign(r *http.Request) {
	c.T.Helper()
	signAt(c.T, r, c.Cred, "sqs", c.Region, time.Now())
}

func signAt(t *testing.T, r *http.Request, cred identity.Credential, service, region string, now time.Time) {
	t.Helper()
	credentials := aws.Credentials{AccessKeyID: cred.AccessKeyID, SecretAccessKey: cred.Secret}
	err := v4.NewSigner().SignHTTP(context.Background(), credentials, r, bodyHash(t, r), service, region, now)
	if err != nil {
		t.Fatal(err)
	}
}

func bodyHash(t *testing.T, r *http.Request) string {
	t.Helper()
	var body []byte
	if r.GetBody != nil {
		reader, err := r.GetBody()
		if err == nil {
			body, err = io.ReadAll(reader)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

var (
	uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	anything    = regexp.MustCompile(``)
	decimal     = regexp.MustCompile(`^[0-9]+$`)
	handles     = regexp.MustCompile(`^[A-Za-z0-9_-]{20,}$`)
	sequences   = regexp.MustCompile(`^[0-9]{20}$`)
)

// send sends r and reads the answer to op.
func (c *client) Send(op string, r *http.Request) *answer {
	c.T.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.T.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		c.T.Fatal(err)
	}
	a := &answer{Status: response.StatusCode, Header: response.Header, Body: body}
	a.Failed.Status = a.Status
	if r.Header.Get("X-Amz-Target") != "" {
		a.readJSON(c.T, op)
	} else if !strings.Contains(a.Header.Get("Content-Type"), "json") {
		a.readXML(c.T, op, c.Version)
	}
	h := a.Header
	switch {
	case !uuidPattern.MatchString(h.Get("x-amzn-RequestId")):
		c.T.Errorf("%s: x-amzn-RequestId is %q", op, h.Get("x-amzn-RequestId"))
	case h.Get("Date") == "" || h.Get("Content-Length") != strconv.Itoa(len(body)):
		c.T.Errorf("%s: Date %q and Content-Length %q of %d bytes", op, h.Get("Date"), h.Get("Content-Length"), len(body))
	}
	return a
}

// silent are the operations that have nothing to say when they succeed.
var silent = []string{
	"AddPermission", "RemovePermission", "ChangeMessageVisibility", "DeleteMessage", "DeleteQueue",
	"PurgeQueue", "SetQueueAttributes", "TagQueue", "UntagQueue",
}

func (a *answer) readJSON(t *testing.T, op string) {
	t.Helper()
	if got := a.Header.Get("Content-Type"); got != "application/x-amz-json-1.0" {
		t.Errorf("%s: Content-Type is %q", op, got)
	}
	if a.Status == http.StatusOK {
		if slices.Contains(silent, op) {
			if len(a.Body) != 0 {
				t.Errorf("%s: the body is %q, want none", op, a.Body)
			}
			a.Result = object{}
			return
		}
		a.Result = asText(a.parse(t, op)).(object)
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

func (a *answer) parse(t *testing.T, op string) object {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber()
	var m object
	if err := d.Decode(&m); err != nil || d.More() {
		t.Fatalf("%s: the body is %q: %v", op, a.Body, err)
	}
	return m
}

// node is an XML element.
type node struct {
	XMLName  xml.Name
	Text     string `xml:",chardata"`
	Children []node `xml:",any"`
}

func (n *node) child(name string) *node {
	for i := range n.Children {
		if n.Children[i].XMLName.Local == name {
			return &n.Children[i]
		}
	}
	return &node{}
}

func (a *answer) readXML(t *testing.T, op, version string) {
	t.Helper()
	var root node
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
	if want := "http://queue.amazonaws.com/doc/" + version + "/"; root.XMLName.Space != want && a.Status == http.StatusOK {
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

// collection says how a list or map of the JSON protocol looks in Query.
type collection struct {
	json, query string
	key, value  string // of a map
}

var requestCollections = []collection{
	{"Attributes", "Attribute", "Name", "Value"},
	{"MessageAttributes", "MessageAttribute", "Name", "Value"},
	{"MessageSystemAttributes", "MessageSystemAttribute", "Name", "Value"},
	{"tags", "Tag", "Key", "Value"},
	{"Tags", "Tag", "Key", "Value"},
	{"AttributeNames", "AttributeName", "", ""},
	{"MessageSystemAttributeNames", "MessageSystemAttributeName", "", ""},
	{"MessageAttributeNames", "MessageAttributeName", "", ""},
	{"TagKeys", "TagKey", "", ""},
	{"AWSAccountIds", "AWSAccountId", "", ""},
	{"Actions", "ActionName", "", ""},
	{"StringListValues", "StringListValue", "", ""},
	{"BinaryListValues", "BinaryListValue", "", ""},
	{"Entries", "%sRequestEntry", "", ""},
}

// addForm adds the members of in to form, each under prefix.
func addForm(form url.Values, op, prefix string, in object) {
	for name, v := range in {
		i := slices.IndexFunc(requestCollections, func(c collection) bool { return c.json == name })
		if i < 0 {
			addValue(form, op, prefix+name, v)
			continue
		}
		c := requestCollections[i]
		base := prefix + strings.Replace(c.query, "%s", op, 1)
		n := 0
		switch v := v.(type) {
		case list:
			for _, e := range v {
				n++
				addValue(form, op, base+"."+strconv.Itoa(n), e)
			}
		case object:
			for key, e := range v {
				n++
				form.Set(fmt.Sprintf("%s.%d.%s", base, n, c.key), key)
				addValue(form, op, fmt.Sprintf("%s.%d.%s", base, n, c.value), e)
			}
		}
		if n == 0 {
			form.Set(base, "")
		}
	}
}

func addValue(form url.Values, op, name string, v any) {
	if members, ok := v.(object); ok {
		addForm(form, op, name+".", members)
		return
	}
	form.Set(name, fmt.Sprint(v))
}

// responseCollections is the way back. Names that only some operations use for
// collections have the operation before a dot.
var responseCollections = []collection{
	{"Attributes", "Attribute", "Name", "Value"},
	{"MessageAttributes", "MessageAttribute", "Name", "Value"},
	{"Tags", "Tag", "Key", "Value"},
	{"Messages", "Message", "", ""},
	{"QueueUrls", "ListQueues.QueueUrl", "", ""},
	{"queueUrls", "ListDeadLetterSourceQueues.QueueUrl", "", ""},
	{"Successful", "SendMessageBatchResultEntry", "", ""},
	{"Successful", "DeleteMessageBatchResultEntry", "", ""},
	{"Successful", "ChangeMessageVisibilityBatchResultEntry", "", ""},
	{"Failed", "BatchResultErrorEntry", "", ""},
	{"Results", "ListMessageMoveTasksResultEntry", "", ""},
}

// fromXML turns the children of n into what JSON would have said.
func fromXML(op string, n *node) object {
	out := object{}
	for i := range n.Children {
		child := &n.Children[i]
		name := child.XMLName.Local
		// A Message with children is one that was received, and not a text.
		j := slices.IndexFunc(responseCollections, func(c collection) bool {
			return c.query == op+"."+name || c.query == name && len(child.Children) > 0
		})
		var v any = child.Text
		if len(child.Children) > 0 {
			v = fromXML(op, child)
		}
		if j < 0 {
			out[name] = v
			continue
		}
		c := responseCollections[j]
		if c.key == "" {
			all, _ := out[c.json].(list)
			out[c.json] = append(all, v)
			continue
		}
		entries, _ := out[c.json].(object)
		if entries == nil {
			entries = object{}
			out[c.json] = entries
		}
		entry := v.(object)
		entries[entry[c.key].(string)] = entry[c.value]
	}
	return out
}

// asText turns the scalars in v into what XML would have for them.
func asText(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for k, e := range v {
			out[k] = asText(e)
		}
		return out
	case list:
		out := make(list, len(v))
		for i, e := range v {
			out[i] = asText(e)
		}
		return out
	}
	return fmt.Sprint(v)
}

// match compares got with want, in which regular expressions stand for what is
// not known beforehand.
func match(want, got any) error {
	switch want := want.(type) {
	case *regexp.Regexp:
		text, ok := got.(string)
		if !ok || !want.MatchString(text) {
			return fmt.Errorf("%v does not match %v", got, want)
		}
		return nil
	case object:
		m, ok := got.(object)
		if !ok || len(m) != len(want) {
			return fmt.Errorf("%v is not %v", got, want)
		}
		for name, w := range want {
			g, ok := m[name]
			if !ok {
				return fmt.Errorf("%s is missing", name)
			}
			if err := match(w, g); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case list:
		l, ok := got.(list)
		if !ok || len(l) != len(want) {
			return fmt.Errorf("%v is not %v", got, want)
		}
		for i := range want {
			if err := match(want[i], l[i]); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
		return nil
	}
	if fmt.Sprint(want) != got {
		return fmt.Errorf("%v is not %v", got, want)
	}
	return nil
}

// The kinds of refusal.
func modelled(shape, code string, status int, message string) refusal {
	return refusal{Shape: "com.amazonaws.sqs#" + shape, Code: code, Status: status, Message: message}
}

func generic(shape, code string, status int, message string) refusal {
	return refusal{Shape: "com.amazon.coral.service#" + shape, Code: code, Status: status, Message: message}
}

func invalid(message string) refusal {
	return generic("InvalidParameterValueException", "InvalidParameterValue", 400, message)
}

func missing(name string) refusal {
	return generic("MissingRequiredParameterException", "MissingParameter", 400, "The request must contain the parameter "+name+".")
}

func denied(message string) refusal {
	return generic("AccessDeniedException", "AccessDenied", 403, message)
}

func attributeName(message string) refusal {
	return modelled("InvalidAttributeName", "InvalidAttributeName", 400, message)
}

func attributeValue(message string) refusal {
	return modelled("InvalidAttributeValue", "InvalidAttributeValue", 400, message)
}

func overLimit(message string) refusal { return modelled("OverLimit", "OverLimit", 403, message) }

func resourceNotFound(message string) refusal {
	return modelled("ResourceNotFoundException", "ResourceNotFoundException", 404, message)
}

func batchRefusal(shape, message string) refusal {
	return modelled(shape, "AWS.SimpleQueueService."+shape, 400, message)
}

var noQueue = refusal{
	Shape: "com.amazonaws.sqs#QueueDoesNotExist", Code: "AWS.SimpleQueueService.NonExistentQueue", Status: 400,
	Message: "The specified queue does not exist.", QueryMessage: "The specified queue does not exist for this wsdl version.",
}

// taskHandle is the handle of a message move task as AWS makes them.
func taskHandle(task, source string) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"taskId":"%s","sourceArn":"%s"}`, task, source))
}

// allowing is a statement of a policy. condition is what stands between the
// braces of the element, which is left out if it is empty.
func allowing(principal, action, resource, condition string) string {
	if condition != "" {
		condition = `,"Condition":{` + condition + `}`
	}
	return fmt.Sprintf(`{"Effect":"Allow","Principal":{"AWS":%q},"Action":%q,"Resource":%q%s}`, principal, action, resource, condition)
}

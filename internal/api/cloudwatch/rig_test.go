package cloudwatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/api/cloudwatch"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/detector"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insightrule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/muterule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

type (
	object = apitest.Object
	list   = apitest.List
)

const (
	account = apitest.Account
	region  = "us-east-1"
)

var scope = series.Scope{Account: account, Region: region}

// codec is a protocol that clients speak.
type codec string

const (
	inJSON  codec = "json"
	inCBOR  codec = "cbor"
	inQuery codec = "query"
)

var codecs = []codec{inJSON, inCBOR, inQuery}

// rig is the service with the test's own metrics and clock, called in one protocol.
type rig struct {
	*testing.T
	codec   codec
	wire    *protocol.Service
	monitor *monitor.Monitor
	metrics *series.Memory
	budget  *budget.Budget
	now     time.Time
	caller  identity.Identity

	queryMode bool   // the client wants the codes of the Query protocol
	shape     string // of the last error in JSON or CBOR
}

// inEach runs a test in each protocol, with its own service.
func inEach(t *testing.T, f func(*rig)) {
	t.Helper()
	for _, c := range codecs {
		t.Run(string(c), func(t *testing.T) {
			t.Parallel()
			f(newRig(t, c))
		})
	}
}

func newRig(t *testing.T, c codec) *rig {
	t.Helper()
	s := storetest.Memory(t)
	ctl := control.New(control.Options{Store: s})
	detectors, err := detector.Open(ctl, control.Formats{})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := insightrule.Open(ctl, control.Formats{})
	if err != nil {
		t.Fatal(err)
	}
	mutes, err := muterule.Open(ctl, control.Formats{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := monitor.Open(monitor.Options{Control: ctl, Mutes: mutes})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		T: t, codec: c, monitor: m, metrics: new(series.Memory), budget: budget.New(budget.Size),
		now: time.Date(2026, 11, 21, 12, 0, 30, 0, time.UTC), caller: identity.Root(account, "AKID"),
	}
	r.wire = cloudwatch.New(cloudwatch.Options{
		Monitor: m, Detectors: detectors, InsightRules: rules, MuteRules: mutes, Series: r.metrics,
		Levels: series.Default, Budget: r.budget,
		Now: func() time.Time { return r.now },
	})
	return r
}

// double returns a number that is not finite in the form of the protocol.
func (r *rig) double(name string, n float64) any {
	if r.codec == inCBOR {
		return n
	}
	return name
}

// minutes stores values of a metric, one a minute, the last of them in the minute before now.
func (r *rig) minutes(metric, queue string, values ...float64) {
	id := series.ID{
		Scope: scope, Namespace: series.SQS, Metric: metric,
		Dimensions: []series.Dimension{{Name: "QueueName", Value: queue}},
	}
	for i, v := range values {
		r.metrics.Add(id, series.Sample(r.now.Add(time.Duration(i-len(values))*time.Minute), v))
	}
}

// answer is the result of a call: after success the output, in the same form for all protocols.
type answer struct {
	status        int
	output        object
	code, message string
	members       object // of a refusal, besides its message
}

// call makes a call.
func (r *rig) call(op string, in object) answer {
	r.Helper()
	request, body := r.request(op, in)
	parsed, err := protocol.Recognise(request, body)
	w := httptest.NewRecorder()
	var out any
	if err == nil {
		out, err = r.invoke(parsed)
	}
	if err != nil {
		if writing := protocol.WriteError(w, r.wire, parsed, "id", protocol.AsError(err)); writing != nil {
			r.Fatal(writing)
		}
		return r.refusal(w)
	}
	operation, err := r.wire.Lookup(parsed)
	if err != nil {
		r.Fatal(err)
	}
	if err := protocol.WriteResult(w, r.wire, parsed, operation, "id", out); err != nil {
		r.Fatal(err)
	}
	return answer{status: w.Code, output: r.read(op, w.Body.Bytes())}
}

func (r *rig) invoke(parsed *protocol.Request) (any, error) {
	op, err := r.wire.Lookup(parsed)
	if err != nil {
		return nil, err
	}
	in, err := op.Decode(parsed)
	if err != nil {
		return nil, err
	}
	return op.Invoke(context.Background(),
		&protocol.Call{Service: "monitoring", Operation: op.Name, Region: region, Identity: &r.caller}, in)
}

// request returns a request as the SDKs make it.
func (r *rig) request(op string, in object) (*http.Request, []byte) {
	r.Helper()
	var body []byte
	request := httptest.NewRequest(http.MethodPost, "/", nil)
	switch r.codec {
	case inJSON:
		request.Header.Set("Content-Type", "application/x-amz-json-1.0")
		request.Header.Set("X-Amz-Target", "GraniteServiceVersion20100801."+op)
		body = must(r, json.Marshal, plain(in, func(t time.Time) any { return float64(t.UnixMilli()) / 1000 }))
	case inCBOR:
		request = httptest.NewRequest(http.MethodPost, "/service/GraniteServiceVersion20100801/operation/"+op, nil)
		request.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
		request.Header.Set("Content-Type", "application/cbor")
		body = must(r, cbor.Marshal,
			plain(in, func(t time.Time) any { return cbor.Tag{Number: 1, Content: float64(t.UnixMilli()) / 1000} }))
	case inQuery:
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		form := url.Values{"Action": {op}, "Version": {"2010-08-01"}}
		addForm(form, "", in)
		body = []byte(form.Encode())
	}
	if r.queryMode {
		request.Header.Set("x-amzn-query-mode", "true")
	}
	return request, body
}

func must(r *rig, f func(any) ([]byte, error), v any) []byte {
	r.Helper()
	b, err := f(v)
	if err != nil {
		r.Fatal(err)
	}
	return b
}

// plain returns v with its times in the form of the protocol.
func plain(v any, at func(time.Time) any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for k, e := range v {
			out[k] = plain(e, at)
		}
		return out
	case list:
		out := make(list, len(v))
		for i, e := range v {
			out[i] = plain(e, at)
		}
		return out
	case time.Time:
		return at(v)
	}
	return v
}

// addForm adds v under a name, in CloudWatch's form of the Query protocol.
func addForm(form url.Values, name string, v any) {
	dot := func(more string) string { return strings.TrimPrefix(name+"."+more, ".") }
	switch v := v.(type) {
	case object:
		if len(v) == 0 && name != "" {
			form.Set(name, "")
		}
		for k, e := range v {
			addForm(form, dot(k), e)
		}
	case list:
		if len(v) == 0 {
			form.Set(name, "")
		}
		for i, e := range v {
			addForm(form, dot("member."+strconv.Itoa(i+1)), e)
		}
	case time.Time:
		form.Set(name, v.Format("2006-01-02T15:04:05.999Z"))
	default:
		form.Set(name, fmt.Sprint(v))
	}
}

// read returns an output with all scalars as text, times to the second, and without empty members.
func (r *rig) read(op string, body []byte) object {
	r.Helper()
	var v any
	switch {
	case len(body) == 0:
		return object{}
	case r.codec == inJSON:
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			r.Fatalf("%s: %v", body, err)
		}
	case r.codec == inCBOR:
		if err := cbor.Unmarshal(body, &v); err != nil {
			r.Fatalf("%x: %v", body, err)
		}
	default:
		var root element
		if err := xml.Unmarshal(body, &root); err != nil {
			r.Fatalf("%s: %v", body, err)
		}
		v = root.child(op + "Result").value()
	}
	out, _ := same("", v).(object)
	if out == nil {
		out = object{}
	}
	return out
}

// same returns v in the form that all protocols share, or nil if it is empty. name is the member's.
func same(name string, v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for k, e := range v {
			if s := same(k, e); s != nil {
				out[k] = s
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case map[any]any:
		out := object{}
		for k, e := range v {
			out[fmt.Sprint(k)] = e
		}
		return same(name, out)
	case list:
		out := list{}
		for _, e := range v {
			out = append(out, same(name, e))
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case json.Number:
		f, _ := v.Float64()
		if strings.HasPrefix(name, "Timestamp") || strings.HasSuffix(name, "Timestamp") ||
			strings.HasSuffix(name, "Date") || name == "LastModified" {
			return time.UnixMilli(int64(f * 1000)).UTC().Format(time.RFC3339)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case string:
		if v == "" {
			return nil
		}
		return v
	}
	return fmt.Sprint(v)
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

// value returns the value that JSON would have.
func (n *element) value() any {
	switch {
	case len(n.Children) == 0:
		if whole, ok := strings.CutSuffix(n.Text, ".0"); ok && strings.Trim(whole, "-0123456789") == "" { // a double
			return whole
		}
		return n.Text
	case n.Children[0].XMLName.Local == "member":
		var out list
		for _, c := range n.Children {
			out = append(out, c.value())
		}
		return out
	case n.Children[0].XMLName.Local == "entry":
		out := object{}
		for _, c := range n.Children {
			out[c.child("key").Text] = c.child("value").value()
		}
		return out
	}
	out := object{}
	for _, c := range n.Children {
		out[c.XMLName.Local] = c.value()
	}
	return out
}

// refusal reads an error.
func (r *rig) refusal(w *httptest.ResponseRecorder) answer {
	r.Helper()
	a := answer{status: w.Code}
	body := w.Body.Bytes()
	var in map[string]any
	switch r.codec {
	case inQuery:
		var root element
		if err := xml.Unmarshal(body, &root); err != nil {
			r.Fatalf("%s: %v", body, err)
		}
		a.code, a.message = root.child("Error").child("Code").Text, root.child("Error").child("Message").Text
		a.members, _ = same("", root.child("Error").value()).(object)
		for _, name := range []string{"Type", "Code", "Message"} {
			delete(a.members, name)
		}
		return a
	case inJSON:
		if err := json.Unmarshal(body, &in); err != nil {
			r.Fatalf("%s: %v", body, err)
		}
	case inCBOR:
		if err := cbor.Unmarshal(body, &in); err != nil {
			r.Fatalf("%x: %v", body, err)
		}
	}
	r.shape, _ = in["__type"].(string)
	a.code, _, _ = strings.Cut(w.Header().Get("x-amzn-query-error"), ";")
	a.message, _ = in["message"].(string)
	if a.message == "" {
		a.message, _ = in["Message"].(string)
	}
	for _, name := range []string{"__type", "message", "Message"} {
		delete(in, name)
	}
	a.members, _ = same("", in).(object)
	return a
}

// ok makes a call that must succeed with this output. Members of want that are regular expressions match.
func (r *rig) ok(op string, in, want object) {
	r.Helper()
	a := r.call(op, in)
	if a.status != http.StatusOK {
		r.Errorf("%s %v: %d %s %s", op, in, a.status, a.code, a.message)
		return
	}
	if err := apitest.Match(want, a.output); err != nil {
		r.Errorf("%s %v: %v\ngot  %v\nwant %v", op, in, err, a.output, want)
	}
}

// fails makes a call that must be refused.
func (r *rig) fails(op string, in object, status int, code, message string) {
	r.Helper()
	a := r.call(op, in)
	if a.status != status || a.code != code || a.message != message {
		r.Errorf("%s %v\ngot  %d %s: %s\nwant %d %s: %s", op, in, a.status, a.code, a.message, status, code, message)
	}
}

// with returns in with other members.
func with(in object, members object) object {
	out := maps.Clone(in)
	for k, v := range members {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = v
		}
	}
	return out
}

// names returns the values of a name in the members of a list, in order.
func names(all any, name string) []string {
	var out []string
	l, _ := all.(list)
	for _, e := range l {
		out = append(out, fmt.Sprint(e.(object)[name]))
	}
	slices.Sort(out)
	return out
}

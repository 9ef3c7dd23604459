package protocol_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// In XML a precise time has milliseconds, which other times lack.
func TestPreciseTimes(t *testing.T) {
	t.Parallel()
	type out struct {
		At    time.Time `precise:""`
		Whole time.Time `precise:""`
		Other time.Time
		Maybe *time.Time `precise:""`
		None  *time.Time `precise:""`
	}
	s := protocol.NewService(protocol.Service{Name: "clock", Target: "Clock", Versions: []string{"2012-11-05"}})
	at := time.Date(2015, 1, 2, 4, 4, 5, 70_900_000, time.FixedZone("", 3600))
	protocol.Register(s, "Echo", func(context.Context, *protocol.Call, *struct{}) (*out, error) {
		return &out{at, at.Truncate(time.Second), at, &at, nil}, nil
	})
	got, err := answer(s, formRequest("Action=Echo"), "Action=Echo")
	const want = "<At>2015-01-02T03:04:05.070Z</At><Whole>2015-01-02T03:04:05Z</Whole><Other>2015-01-02T03:04:05Z</Other>" +
		"<Maybe>2015-01-02T03:04:05.070Z</Maybe></EchoResult>"
	if err != nil || !strings.Contains(got, want) {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

type clockIn struct {
	At  time.Time
	End *time.Time
}

type clockOut struct {
	At   time.Time
	End  *time.Time
	Last time.Time `json:",omitempty"`
}

// A time is encoded as each protocol spells it, and decoded unchanged.
func TestTimes(t *testing.T) {
	t.Parallel()
	s := protocol.NewService(protocol.Service{Name: "clock", Target: "Clock", Versions: []string{"2012-11-05"}})
	protocol.Register(s, "Echo", func(_ context.Context, _ *protocol.Call, in *clockIn) (*clockOut, error) {
		return &clockOut{At: in.At, End: in.End}, nil
	})
	for _, c := range []struct{ json, query, wantJSON, wantXML string }{
		{`{"At":1420167845}`, "At=2015-01-02T03:04:05Z", `{"At":1420167845}`,
			"<At>2015-01-02T03:04:05Z</At></EchoResult>"},
		{`{"At":1420167845.25}`, "At=2015-01-02T04:04:05.25%2B01:00", `{"At":1420167845.25}`,
			"<At>2015-01-02T03:04:05Z</At></EchoResult>"},
		{`{"At":1.420167845e9,"End":-1}`, "At=2015-01-02T03:04:05Z&End=1969-12-31T23:59:59Z",
			`{"At":1420167845,"End":-1}`, "<At>2015-01-02T03:04:05Z</At><End>1969-12-31T23:59:59Z</End></EchoResult>"},
		{`{"At":"2015-01-02"}`, "At=2015-01-02", "", ""},
		{`{"At":1e300}`, "At=yesterday", "", ""},
		{`{"At":true}`, "At=1420167845", "", ""},
		{`{"At":-2e11}`, "At=0000-01-01T00:00:00%2B01:00", "", ""}, // before the year 0
		{`{"At":253402300799.9999}`, "At=9999-12-31T23:59:59-01:00", "", ""},
	} {
		for _, request := range []*http.Request{jsonRequest("Clock.Echo", c.json),
			formRequest("Action=Echo&" + c.query)} {
			want := c.wantJSON
			text := c.query
			if request.Header.Get("X-Amz-Target") == "" {
				want = c.wantXML
			} else {
				text = c.json
			}
			got, err := answer(s, request, text)
			if (err == nil) != (want != "") || !strings.Contains(got, want) {
				t.Errorf("%s: %s, %v, want %s", text, got, err, want)
			}
		}
	}
}

func jsonRequest(target, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", target)
	return r
}

func formRequest(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func answer(s *protocol.Service, r *http.Request, body string) (string, *protocol.Error) {
	if r.Header.Get("X-Amz-Target") == "" {
		body = "Action=Echo&" + body
	}
	request, err := protocol.Recognise(r, []byte(body))
	if err != nil {
		return "", refusal(err)
	}
	op, err := s.Lookup(request)
	if err != nil {
		return "", refusal(err)
	}
	in, err := op.Decode(request)
	if err != nil {
		return "", refusal(err)
	}
	out, failed := op.Invoke(context.Background(), &protocol.Call{}, in)
	if failed != nil {
		return "", protocol.AsError(failed)
	}
	w := httptest.NewRecorder()
	_ = protocol.WriteResult(w, s, request, op, "id", out)
	return w.Body.String(), nil
}

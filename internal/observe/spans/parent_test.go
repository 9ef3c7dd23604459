package spans

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
)

const (
	root   = "Root=1-5759e988-bd862e3fe1be46a994272793"
	parent = "Parent=53995c3f42cd8ad8"
	theirs = "5759e988bd862e3fe1be46a994272793"
)

func TestXRayHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header          string
		ok, wanted      bool
		sampled, parent bool
	}{
		{root + ";" + parent + ";Sampled=1", true, true, true, true},
		{" Self=1-2;" + root + "; " + parent + "; Sampled=1;Lineage=a:1", true, true, true, true},
		{root + ";Sampled=1", true, true, true, false},
		{root + ";" + parent + ";Sampled=0", true, false, false, false},
		{root + ";Sampled=0", true, false, false, false},
		{root + ";" + parent, true, true, false, false},
		{root + ";" + parent + ";Sampled=?", true, true, false, false},
		{parent + ";Sampled=1", false, false, false, false},
		{root + ";Parent=53995c3f42cd8ad;Sampled=1", false, false, false, false},
		{"Root=1-5759e988-bd862e3fe1be46a99427279z;Sampled=1", false, false, false, false},
		{"Root=1-00000000-000000000000000000000000;Sampled=1", false, false, false, false},
		{"Root=2-5759e988-bd862e3fe1be46a994272793", false, false, false, false},
		{root + ";" + strings.Repeat("x", maxHeader), false, false, false, false},
		{"", false, false, false, false},
	} {
		sc, wanted, ok := parseXRay(c.header)
		if ok != c.ok || wanted != c.wanted || sc.IsSampled() != c.sampled || sc.HasSpanID() != c.parent {
			t.Errorf("%q: %+v, wanted %v, ok %v", c.header, sc, wanted, ok)
		}
		if wanted && (sc.TraceID().String() != theirs || !sc.IsRemote()) {
			t.Errorf("%q: %+v", c.header, sc)
		}
	}
}

func TestParentOfRequest(t *testing.T) {
	t.Parallel()
	const w3c = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
	for _, c := range []struct {
		w3c, xray string
		trace     string // "": one of its own
		wanted    bool
	}{
		{"", "", "", true},
		{w3c + "01", root + ";Sampled=0", "0af7651916cd43dd8448eb211c80319c", true},
		{w3c + "00", root + ";Sampled=1", "", false},
		{"nonsense", root + ";" + parent + ";Sampled=1", theirs, true},
		{"nonsense", "nonsense", "", true},
		{strings.Repeat("0", maxHeader+1), "", "", true},
	} {
		sc, wanted := parentOf(func(name string) string { return map[string]string{"traceparent": c.w3c}[name] },
			c.xray)
		got := ""
		if sc.HasTraceID() {
			got = sc.TraceID().String()
		}
		if wanted != c.wanted || wanted && got != c.trace {
			t.Errorf("%q %q: trace %s, wanted %v", c.w3c, c.xray, got, wanted)
		}
	}
}

func TestParentOfMessage(t *testing.T) {
	t.Parallel()
	attribute := queue.Attribute{
		Name: "traceparent", Type: "String", Value: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	for _, c := range []struct {
		message queue.Message
		trace   string
	}{
		{queue.Message{Trace: root + ";" + parent + ";Sampled=1", Attributes: []queue.Attribute{attribute}}, theirs},
		{queue.Message{Trace: root + ";" + parent + ";Sampled=0", Attributes: []queue.Attribute{attribute}}, ""},
		{queue.Message{Attributes: []queue.Attribute{{Name: "x"}, attribute}}, "0af7651916cd43dd8448eb211c80319c"},
		{queue.Message{Attributes: []queue.Attribute{{Name: "traceparent", Type: "Binary", Value: attribute.Value}}},
			""},
		{queue.Message{Attributes: []queue.Attribute{{Name: "x"}}}, ""},
		{queue.Message{}, ""},
	} {
		sc, wanted := parentOfMessage(&c.message)
		if wanted != (c.trace != "") || wanted && sc.TraceID().String() != c.trace {
			t.Errorf("%+v: %v, wanted %v", c.message, sc.TraceID(), wanted)
		}
	}
}

func FuzzParseXRay(f *testing.F) {
	for _, s := range []string{root + ";" + parent + ";Sampled=1", root + ";Sampled=?", "Self=;;=;Root=1-", parent} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		sc, wanted, ok := parseXRay(header)
		switch {
		case !ok && (wanted || sc.HasTraceID()):
			t.Errorf("%q is not a header, but names a trace", header)
		case wanted && !sc.HasTraceID():
			t.Errorf("%q: wanted without a trace", header)
		case wanted && sc.HasSpanID() && !sc.IsSampled():
			t.Errorf("%q: a parent that is not sampled", header)
		}
		if again, _, ok2 := parseXRay(strings.ReplaceAll(header, ";", "; ")); ok && ok2 && len(header) < maxHeader/2 &&
			again.TraceID() != sc.TraceID() {
			t.Errorf("%q: spaces change the trace", header)
		}
	})
}

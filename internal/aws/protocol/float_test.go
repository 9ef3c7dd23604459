package protocol_test

import (
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Doubles are written as doubles, so that a client does not read an integer.
func TestDoubles(t *testing.T) {
	t.Parallel()
	s := newService()
	out := &measureOutput{
		Value: 30, Values: []float64{0, -45, 1.5, 1e20, 1e21, 1e-7, math.MaxInt64, math.Copysign(0, -1)},
	}
	all := []string{"0.0", "-45.0", "1.5", "100000000000000000000.0", "1e+21", "1e-07", "9223372036854776000.0", "-0.0"}
	for kind, want := range map[protocol.Kind]string{
		protocol.JSON:  `"Values":[` + strings.Join(all, ",") + "]",
		protocol.Query: "<member>" + strings.Join(all, "</member><member>") + "</member>",
	} {
		w := httptest.NewRecorder()
		if err := protocol.WriteResult(w, s, &protocol.Request{Kind: kind}, operation(t, s, "Measure"), requestID,
			out); err != nil {
			t.Fatal(err)
		}
		if body := w.Body.String(); !strings.Contains(body, want) || !strings.Contains(body, "30.0") {
			t.Errorf("%s\nwant %s", body, want)
		}
	}
}

// Numbers that are not finite have the same names in JSON and Query, and their own form in CBOR: services refuse them
// with their own errors.
func TestDoublesThatAreNotFinite(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]struct {
		cbor string
		want float64
	}{
		"NaN": {"\xf9\x7e\x00", math.NaN()}, "Infinity": {"\xfa\x7f\x80\x00\x00", math.Inf(1)},
		"-Infinity": {"\xf9\xfc\x00", math.Inf(-1)},
	} {
		decoded := make(map[string]any)
		var err *protocol.Error
		if decoded["JSON"], err = decodeJSON("Measure", `{"Value":"`+name+`"}`); err != nil {
			t.Fatal(err)
		}
		if decoded["Query"], err = decodeQuery("Measure", "Value="+name); err != nil {
			t.Fatal(err)
		}
		if decoded["CBOR"], err = decodeCBOR("Measure", []byte("\xa1\x65Value"+in.cbor)); err != nil {
			t.Fatal(err)
		}
		for protocol, v := range decoded {
			if got := *v.(*measureInput).Value; got != in.want && !(math.IsNaN(got) && math.IsNaN(in.want)) {
				t.Errorf("%s in %s is %v", name, protocol, got)
			}
		}
	}
}

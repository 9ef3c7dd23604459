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
	out := &measureOutput{Value: 30, Values: []float64{0, -45, 1.5, 1e20, 1e21, 1e-7, math.MaxInt64, math.Copysign(0, -1)}}
	all := []string{"0.0", "-45.0", "1.5", "100000000000000000000.0", "1e+21", "1e-07", "9223372036854776000.0", "-0.0"}
	for kind, want := range map[protocol.Kind]string{
		protocol.JSON:  `"Values":[` + strings.Join(all, ",") + "]",
		protocol.Query: "<member>" + strings.Join(all, "</member><member>") + "</member>",
	} {
		w := httptest.NewRecorder()
		if err := protocol.WriteResult(w, s, &protocol.Request{Kind: kind}, operation(t, s, "Measure"), requestID, out); err != nil {
			t.Fatal(err)
		}
		if body := w.Body.String(); !strings.Contains(body, want) || !strings.Contains(body, "30.0") {
			t.Errorf("%s\nwant %s", body, want)
		}
	}
}

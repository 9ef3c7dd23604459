package command_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// The command prints a link that signs in the owner of the keys, once.
func TestConsoleByCommand(t *testing.T) {
	s := serve(t, "--in-memory")
	as(t, s.exports, "")
	for _, args := range [][]string{{"console"}, {"console", "--json"}} {
		out, _, err := run(t, args...)
		endpoint := s.exports["AWS_ENDPOINT_URL_SQS"]
		_, token, ok := strings.Cut(out, endpoint+"/console/#k=")
		token, _, _ = strings.Cut(strings.TrimSpace(token), `"`)
		if err != nil || !ok {
			t.Fatalf("%v: %s, %v", args, out, err)
		}
		for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
			r, err := http.NewRequest(http.MethodPost, endpoint+"/console/api/session",
				strings.NewReader(`{"link":"`+token+`"}`))
			apitest.Must(t, r, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("X-Sluice-Console", "1")
			res, err := http.DefaultTransport.RoundTrip(r)
			apitest.Must(t, res, err)
			text, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != want || want == http.StatusOK && !strings.Contains(string(text), ":root") {
				t.Errorf("%v: %d %s", args, res.StatusCode, text)
			}
		}
	}
	if _, _, err := run(t, "console", "extra"); err == nil {
		t.Error("an argument is accepted")
	}
	off := serve(t, "--in-memory", "--console=false")
	as(t, off.exports, "")
	if _, _, err := run(t, "console"); err == nil || !strings.Contains(err.Error(), "serves no console") {
		t.Errorf("without a console: %v", err)
	}
}

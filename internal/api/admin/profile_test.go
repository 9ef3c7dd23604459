package admin_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// Profiles contain functions of the program. The server makes one profile of the processor at a time, which ends when
// its client leaves.
func TestProfileServer(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	for _, tc := range []struct {
		input  string
		status int
		words  string // of the profile, or of the refusal
	}{
		{`{"Kind":"heap"}`, http.StatusOK, "inuse_space"},
		{`{"Kind":"goroutine"}`, http.StatusOK, "admin.takeProfile"},
		{`{"Kind":"cpu","Seconds":1}`, http.StatusOK, "nanoseconds"},
		{`{"Kind":"threads"}`, http.StatusBadRequest, `Kind is \"threads\"; it must be cpu, heap or goroutine.`},
		{`{}`, http.StatusBadRequest, "it must be cpu"},
		{`{"Kind":"cpu","Seconds":31}`, http.StatusBadRequest, "Seconds is 31; it must be 1 to 30."},
		{`{"Kind":"heap","Seconds":0}`, http.StatusBadRequest, "Seconds is 0"},
	} {
		status, body := call(t, s, root, "ProfileServer", tc.input)
		if status == http.StatusOK {
			body = unpacked(t, body)
		}
		if status != tc.status || !strings.Contains(body, tc.words) {
			t.Errorf("%s: %d, without %q: %.200q", tc.input, status, tc.words, body)
		}
	}

	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	r := request(t, s, root, "ProfileServer", `{"Kind":"cpu","Seconds":30}`)
	go func() {
		defer close(left)
		if response, err := http.DefaultClient.Do(r.WithContext(ctx)); err == nil {
			t.Error("a profile of 30 s has ended: ", response.Status)
			response.Body.Close()
		}
	}()
	profiling := func() bool {
		_, body := call(t, s, root, "ProfileServer", `{"Kind":"goroutine"}`)
		return strings.Contains(unpacked(t, body), "pprof.profileWriter")
	}
	eventually.True(t, "a profile is being taken", profiling)
	status, body := call(t, s, root, "ProfileServer", `{"Kind":"cpu","Seconds":1}`)
	if status != http.StatusConflict || !strings.Contains(body, "Another profile of this server is being taken.") {
		t.Errorf("a second profile: %d %.200s", status, body)
	}
	leave()
	<-left
	eventually.True(t, "it has ended", func() bool { return !profiling() })
}

func unpacked(t *testing.T, body string) string {
	t.Helper()
	var out struct{ Profile []byte }
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(out.Profile))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

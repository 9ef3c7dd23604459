package iam

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

// The id of a job contains its subject, and has the form of AWS's ids.
func TestAccessJobs(t *testing.T) {
	t.Parallel()
	for range 100 {
		for _, prefix := range jobPrefixes {
			j := accessJob{
				id: identity.NewID(prefix), at: time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC),
				byAction: prefix == "AROA",
			}
			text, ok := j.encode()
			if got, read := decodeJob(text); !ok || !read || got != j || len(text) != 36 {
				t.Fatalf("%+v became %q, then %+v", j, text, got)
			}
		}
	}
	if text, ok := (accessJob{id: identity.NewID("AIPA")}).encode(); ok {
		t.Errorf("a job about a profile: %s", text)
	}
}

func FuzzDecodeJob(f *testing.F) {
	f.Add("")
	f.Add("00000000-0000-0000-0000-000000000000")
	f.Fuzz(func(t *testing.T, text string) {
		if j, ok := decodeJob(text); ok && len(j.id) != len("AIDA")+idLetters {
			t.Errorf("%q is %+v", text, j)
		}
	})
}

package protocol

import (
	"fmt"
	"strings"
	"testing"
)

func TestNotesKeepTheirOrderAndTheLastValue(t *testing.T) {
	n := new(Notes)
	n.Set("queue", "arn:aws:sqs:us-east-1:000000000000:jobs")
	n.Set("messages", 1)
	n.Set("queue", "arn:aws:sqs:eu-west-1:000000000000:jobs")
	if got, want := fmt.Sprint(n.Attrs()), "[queue=arn:aws:sqs:eu-west-1:000000000000:jobs messages=1]"; got != want {
		t.Errorf("notes are %s, want %s", got, want)
	}
}

func TestNotesAreBounded(t *testing.T) {
	n := new(Notes)
	n.Set("queue", strings.Repeat("é", 1_000_000))
	if got := n.Attrs()[0].Value.String(); len(got) > maxNoteBytes+3 || !strings.HasSuffix(got, "é...") {
		t.Errorf("a note of 2 MB was kept with %d bytes", len(got))
	}
}

func TestNoNotes(t *testing.T) {
	var n *Notes
	n.Set("queue", "jobs")
	if n.Wanted() || n.Attrs() != nil {
		t.Error("nil notes have kept a value")
	}
}

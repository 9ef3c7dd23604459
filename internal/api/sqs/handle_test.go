package sqs

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
)

// A receipt handle has no hyphen, unless a node of the cluster may not know such handles. Both kinds stay valid.
func TestAlphabetOfReceiptHandles(t *testing.T) {
	t.Parallel()
	known := false
	sealer := newSealer([]byte("secret"), func() bool { return !known })
	hyphens := 0
	for number := range uint64(200) {
		receipt := queue.Receipt{Position: 1, Number: number}
		known = number >= 100
		handle := sealer.seal(1, receipt, sealer.alphabet())
		if got, ok := sealer.open(1, handle); !ok || got != receipt {
			t.Fatalf("%s does not open", handle)
		}
		if !strings.Contains(handle, "-") {
			continue
		}
		if hyphens++; known {
			t.Errorf("%s has a hyphen", handle)
		}
	}
	if hyphens == 0 {
		t.Error("earlier handles have no hyphens, so this test proves nothing")
	}
}

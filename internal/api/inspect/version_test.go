package inspect

import (
	"fmt"
	"testing"
)

// A version of the largest page fits into a request.
func TestVersionOfLargestPage(t *testing.T) {
	t.Parallel()
	queues := make([]listedQueue, maxQueues)
	for i := range queues {
		queues[i].QueueName = fmt.Sprint("q", i)
	}
	v, err := versionOf(queues)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(v.String()); n > 1100 {
		t.Errorf("it has %d characters", n)
	}
	if left := v.changed(queues, parseVersion(v.String())); len(left) != 0 {
		t.Errorf("%d queues differ from themselves", len(left))
	}
	before := parseVersion(v.String())
	queues[7].State = &listedState{Visible: 1}
	if v, err = versionOf(queues); err != nil {
		t.Fatal(err)
	}
	if left := v.changed(queues, before); len(left) != 1 || left[0].QueueName != "q7" {
		t.Errorf("%d queues have changed", len(left))
	}
	if left := v.changed(queues, before[:len(before)-1]); len(left) != maxQueues {
		t.Errorf("with a truncated version, %d queues have changed", len(left))
	}
}

package monitor_test

import (
	"fmt"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/tool/plainjson"
)

// A change encodes an alarm once: the record that is stored is the record that is weighed. The race detector adds
// allocations of its own to both sides.
func TestAlarmsAreEncodedOnce(t *testing.T) {
	r, a, tags := newRig(t), backlog(), make(map[string]string)
	for i := range 1000 {
		tags[fmt.Sprint("key", i)] = "value"
	}
	tagged := a.Clone()
	tagged.Tags = tags
	once := testing.AllocsPerRun(10, func() {
		if _, err := plainjson.Marshal(tagged); err != nil {
			t.Fatal(err)
		}
	})
	r.change(func(tx *monitor.Tx) error {
		put := testing.AllocsPerRun(10, func() {
			if err := tx.Retag(a, tags); err != nil {
				t.Fatal(err)
			}
		})
		if put > 1.5*once {
			t.Errorf("a change has %.0f allocations, an encoding %.0f", put, once)
		}
		return nil
	})
}

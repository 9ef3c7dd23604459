package cluster

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/replica"
)

// Only a store that has never followed a log is dispensable: another may be the only copy.
func TestExplainDiverged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		own  replica.Status
		want string
	}{
		{"data of a single machine", replica.Status{Hash: "0000000000000007"}, "start this node with an empty one"},
		{"a log that is shorter than the store", replica.Status{Applied: 900, Hash: "0000000000000007"},
			"keep the directory"},
	} {
		err := explainDiverged(replica.ErrDiverged, c.own, "/data")
		if !errors.Is(err, replica.ErrDiverged) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "/data") {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

package cluster

import (
	"fmt"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/datadir"
)

const controlShard = status.ControlShard

// shardName returns the name of a shard with messages. Numbers start at 1.
func shardName(n int) string { return fmt.Sprintf("%04d", n) }

// numberOf returns the number of the shard with this name.
func numberOf(name string) (int, error) {
	var number int
	if _, err := fmt.Sscanf(name, "%04d", &number); err != nil {
		return 0, fmt.Errorf("%q is not the name of a shard: %w", name, err)
	}
	return number, nil
}

// shardDir returns the directory of a shard's store in a data directory.
func shardDir(dir, name string) string { return filepath.Join(dir, datadir.ShardsDir, name) }

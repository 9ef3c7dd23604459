package cluster

import (
	"fmt"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/datadir"
)

const controlShard = status.ControlShard

// shardName returns the name of a shard with messages, which are numbered from 1.
func shardName(n int) string { return fmt.Sprintf("%04d", n) }

// numberOf returns which shard has this name.
func numberOf(name string) (int, error) {
	var number int
	if _, err := fmt.Sscanf(name, "%04d", &number); err != nil {
		return 0, fmt.Errorf("%q is not the name of a shard: %w", name, err)
	}
	return number, nil
}

// shardDir is where a data directory has the store of a shard.
func shardDir(dir, name string) string { return filepath.Join(dir, datadir.ShardsDir, name) }

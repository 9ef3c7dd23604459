package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/store"
)

var shardPattern = regexp.MustCompile(`^[0-9]{4}$`)

// ShardsIn returns, in ascending order, the numbers of the shards that have a store in a data directory.
func ShardsIn(dir string) ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(dir, datadir.ShardsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		if !e.IsDir() || !shardPattern.MatchString(e.Name()) {
			continue // such as a checkpoint in transfer
		}
		number, err := numberOf(e.Name())
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

// ShardDir returns the directory of a shard's store in a data directory.
func ShardDir(dir string, number int) string {
	return shardDir(dir, shardName(number))
}

// Detach turns a copied data directory of a cluster into one that belongs to no cluster, so that it can found a new
// one. It removes the nodes and the logs. No server may use the directory meanwhile. An interrupted Detach can be
// repeated.
func Detach(dir string) error {
	numbers, err := ShardsIn(dir)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		// A store with a log of its own drops the cluster's log.
		err := withStore(ShardDir(dir, number), func(*store.Store) error { return nil })
		if err != nil {
			return err
		}
	}
	return withStore(filepath.Join(dir, datadir.ControlDir), func(s *store.Store) error {
		tx := s.Begin()
		defer tx.Release()
		err := control.Records(s, KeyPrefix, func(key string, _ []byte) bool {
			tx.Delete([]byte(key))
			return true
		})
		if err != nil || tx.Empty() {
			return err
		}
		return s.Commit(tx)
	})
}

func withStore(dir string, f func(*store.Store) error) error {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// Check reads, without changing anything, what a control store records about its cluster. It returns the number of
// shards with messages, 0 without a cluster, and a list of inconsistencies. An error means that the store cannot be
// read.
func Check(s *store.Store) (shards int, problems []string, err error) {
	r := newRecords()
	err = control.Records(s, KeyPrefix, func(key string, value []byte) bool {
		if err := r.put(key, value); err != nil {
			problems = append(problems, err.Error())
		}
		return true
	})
	if err != nil {
		return 0, problems, fmt.Errorf("check cluster: %w", err)
	}
	for name := range r.shards {
		if number, err := numberOf(name); name != controlShard && (err != nil || number > r.settings.Shards) {
			problems = append(
				problems,
				fmt.Sprintf("there is a record of the shard %s, and there are %d shards", name, r.settings.Shards),
			)
		}
	}
	if len(r.shards)+len(r.nodes) > 0 && r.settings.Shards == 0 {
		problems = append(problems, "the cluster's settings are missing: "+strings.TrimPrefix(keySettings, KeyPrefix))
	}
	return r.settings.Shards, problems, nil
}

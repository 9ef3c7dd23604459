package trails

import (
	"encoding/json"
	"fmt"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Held reports whether a store has keys that sign digests, which are encrypted under the master key.
func Held(s *store.Store) (bool, error) { return keyTable.Any(s) }

// Counts is the number of records of each kind.
type Counts struct{ Trails, Keys, Files int }

// Check reads the records without changing anything. It returns their numbers and a list of inconsistencies. Without a
// vault it does not check private keys. An error means that the store cannot be read.
func Check(s *store.Store, v Vault) (n Counts, problems []string, err error) {
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	r, err := control.Check(s, Prefix, recordsOf(v), func(_ string, bad error) { want(false, "record %v", bad) })
	if err == nil {
		err = s.Scan([]byte(keyFile), []byte(keyFile+"\xff\xff"), func(k, v []byte) bool {
			n.Files++
			want(json.Unmarshal(v, new(File)) == nil, "record %x: a delivered file cannot be read", k)
			return true
		})
	}
	if err != nil {
		return n, problems, fmt.Errorf("check trails: %w", err)
	}
	for name, t := range r.trails {
		bad := t.Selectors.Check()
		want(bad == nil, "trail %s: %v", name.ARN(), bad)
		bad = bucket.CheckName(t.Bucket)
		want(bad == nil, "trail %s: %v", name.ARN(), bad)
	}
	n.Trails, n.Keys = len(r.trails), len(r.keys)
	return n, problems, nil
}

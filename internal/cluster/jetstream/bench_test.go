package jetstream

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// BenchmarkAppend appends one record after the other to a log of three replicas, all on this machine, with a follower
// on another node. An operation ends when the record is on stable storage; at the end the follower must have seen all
// records.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 512 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			c := newCluster(b, 3, nil)
			l, other := c.log(0, "1"), c.log(1, "1")
			if err := l.Lead(b.Context(), c.servers[0].Name()); err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			all := make(chan error, 1)
			end := sharedlog.Position(b.N)
			data := make([]byte, size)
			b.SetBytes(int64(size))
			b.ResetTimer()
			go func() {
				seen := errors.New("seen")
				err := other.Follow(ctx, 1, func(r sharedlog.Record) error {
					if r.Position == end {
						return seen
					}
					return nil
				})
				if errors.Is(err, seen) {
					err = nil
				}
				all <- err
			}()
			for p := range end {
				if err := l.Append(ctx, p, data); err != nil {
					b.Fatal(err)
				}
			}
			if err := <-all; err != nil {
				b.Fatal(err)
			}
		})
	}
}

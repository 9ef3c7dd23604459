package shard_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// A purge keeps nothing, and needs no newer format, until all programs read the format of the kept messages, and while
// the disk is nearly full.
func TestPurgesKeepWhatAllProgramsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		reads int
		low   bool
		keeps bool
	}{
		{"an older program", formats.Kept - 1, false, false},
		{"all programs", formats.Kept, false, true},
		{"a full disk", formats.Newest, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st, err := store.Open("store", store.Options{Disk: store.NewMemoryDisk(nil)})
			if err != nil {
				t.Fatal(err)
			}
			required := 0
			sh, err := shard.Open(shard.Options{
				Store: st, Commit: st.Commit, Reads: func() int { return c.reads }, Low: func() bool { return c.low },
				Require: func(format int) error { required = max(required, format); return nil },
				Configs: func() []queue.Config {
					return []queue.Config{{
						ID: jobs, ARN: "arn:aws:sqs:us-east-1:000000000000:jobs", Visibility: time.Minute,
						Retention: time.Hour,
					}}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sh.Send(t.Context(), jobs, []queue.Outgoing{{Body: "m"}}); err != nil {
				t.Fatal(err)
			}
			if err := sh.Purge(t.Context(), jobs); err != nil {
				t.Fatal(err)
			}
			k, err := sh.Kept(t.Context(), jobs)
			if err != nil || (k.Messages == 1) != c.keeps {
				t.Errorf("%+v is kept, %v", k, err)
			}
			if _, err := sh.UndoPurge(t.Context(), jobs); c.keeps && err != nil ||
				!c.keeps && !errors.Is(err, queue.ErrNothingKept) {
				t.Errorf("the undo gave %v", err)
			}
			counts, err := sh.Counts(t.Context(), jobs)
			if err != nil || (counts.Visible == 1) != c.keeps {
				t.Errorf("the queue has %+v, %v", counts, err)
			}
			sh.Close() // and the goroutine has ended
			if (required >= formats.Kept) != c.keeps {
				t.Errorf("format %d is required", required)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Messages that purges have kept are dropped when the disk becomes nearly full.
func TestAFullDiskEndsWhatPurgesKeep(t *testing.T) {
	t.Parallel()
	st, err := store.Open("store", store.Options{Disk: store.NewMemoryDisk(nil)})
	if err != nil {
		t.Fatal(err)
	}
	var low atomic.Bool
	sh, err := shard.Open(shard.Options{
		Store: st, Commit: st.Commit, Low: low.Load,
		Configs: func() []queue.Config {
			return []queue.Config{{
				ID: jobs, ARN: "arn:aws:sqs:us-east-1:000000000000:jobs", Visibility: time.Minute, Retention: time.Hour,
			}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		sh.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := sh.Send(t.Context(), jobs, []queue.Outgoing{{Body: "m"}}); err != nil {
		t.Fatal(err)
	}
	if err := sh.Purge(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	if k, err := sh.Kept(t.Context(), jobs); err != nil || k.Messages != 1 {
		t.Fatalf("%+v is kept, %v", k, err)
	}
	low.Store(true)
	eventually.True(t, "forgotten", func() bool {
		k, err := sh.Kept(t.Context(), jobs)
		return err == nil && k.Since == 0
	})
}

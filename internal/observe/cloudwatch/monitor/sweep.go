package monitor

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

// sweepAtOnce is how many records one change removes.
const sweepAtOnce = 1000

// Sweep removes old history and old points of metrics.
func (m *Monitor) Sweep(ctx context.Context, now time.Time) error {
	if err := m.sweepHistory(ctx, now); err != nil {
		return err
	}
	if err := m.sweepSketches(ctx, now); err != nil {
		return err
	}
	return m.sweepMetrics(ctx, now)
}

func (m *Monitor) sweepHistory(ctx context.Context, now time.Time) error {
	oldest := historyTime(now.Add(-HistoryKept))
	var old []string
	err := control.Records(m.control.Store(), keyHistory, func(key string, _ []byte) bool {
		if key[strings.LastIndexByte(key, '/')+1:] < oldest {
			old = append(old, key)
		}
		return true
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(old, sweepAtOnce) {
		if err := m.control.Change(ctx, func(tx *control.Tx) error {
			for _, key := range some {
				tx.Delete(key)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

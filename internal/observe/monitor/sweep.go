package monitor

import (
	"context"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

const (
	// sweepAtOnce is how many records one change removes.
	sweepAtOnce = 1000
	// maxItems is how many items of history a region of an account keeps.
	maxItems = 50_000
)

// Sweep removes what is too old: history, and points of metrics. What is too much for one change is left to the next sweep.
func (m *Monitor) Sweep(ctx context.Context, now time.Time) error {
	if err := m.sweepHistory(ctx, now); err != nil {
		return err
	}
	return m.sweepMetrics(ctx, now)
}

func (m *Monitor) sweepHistory(ctx context.Context, now time.Time) error {
	oldest := historyTime(now.Add(-HistoryKept))
	var old []string
	keys := make(map[string][]string) // by scope
	err := control.Records(m.control.Store(), keyHistory, func(key string, _ []byte) bool {
		at := strings.LastIndexByte(key, '/')
		if key[at+1:] < oldest {
			old = append(old, key)
		} else {
			keys[key[:at]] = append(keys[key[:at]], key)
		}
		return len(old) < sweepAtOnce
	})
	if err != nil {
		return err
	}
	for _, of := range keys {
		old = append(old, of[:max(0, len(of)-maxItems)]...)
	}
	if len(old) == 0 {
		return nil
	}
	return m.control.Change(ctx, func(tx *control.Tx) error {
		for _, key := range old[:min(len(old), sweepAtOnce)] {
			tx.Delete(key)
		}
		return nil
	})
}

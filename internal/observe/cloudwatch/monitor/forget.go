package monitor

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
)

// Owned returns the names of an account's alarms and dashboards in all regions, sorted.
func (m *Monitor) Owned(account string) (alarms, dashboards []string) {
	r := m.records.RLock()
	defer m.records.RUnlock()
	for name := range r.of[account].names() {
		alarms = append(alarms, name.Name+" in "+name.Region)
	}
	for _, d := range r.dashboards {
		if d.Account == account {
			dashboards = append(dashboards, d.Name)
		}
	}
	slices.Sort(alarms)
	slices.Sort(dashboards)
	return alarms, dashboards
}

// names returns the alarms of a holding, which may be nil.
func (h *holding) names() map[Name]*Alarm {
	if h == nil {
		return nil
	}
	return h.alarms
}

// Forget removes the metrics that an account has sent, and the history of its alarms. The account was deleted: its
// number may become another owner's.
func (m *Monitor) Forget(ctx context.Context, account string) error {
	for _, prefix := range []string{
		keyHistory + account + "/",
		minutes.sketchesOfAccount(account), seconds.sketchesOfAccount(account),
	} {
		if err := m.removeBelow(ctx, prefix); err != nil {
			return err
		}
	}
	r := m.records.RLock()
	metrics := slices.Collect(maps.Keys(r.sent[account]))
	m.records.RUnlock()
	for _, key := range metrics {
		for _, prefix := range []string{keyPoints + key + "/", keySeconds + key + "/"} {
			if err := m.removeBelow(ctx, prefix); err != nil {
				return err
			}
		}
		if err := m.control.Change(ctx, func(tx *control.Tx) error {
			metricTable.Delete(tx, key)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// removeBelow removes the records below a prefix that ends in a slash, some at a time.
func (m *Monitor) removeBelow(ctx context.Context, prefix string) error {
	end := strings.TrimSuffix(prefix, "/") + "0" // which is behind the slash
	for {
		var some []string
		if err := m.control.Store().Scan([]byte(prefix), []byte(end), func(k, _ []byte) bool {
			some = append(some, string(k))
			return len(some) < sweepAtOnce
		}); err != nil || len(some) == 0 {
			return err
		}
		if err := m.control.Change(ctx, func(tx *control.Tx) error {
			for _, key := range some {
				tx.Delete(key)
			}
			return nil
		}); err != nil {
			return err
		}
	}
}

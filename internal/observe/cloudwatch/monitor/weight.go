package monitor

import "errors"

// Limits of the bytes that an account stores in all regions together. AWS limits only the numbers, but alarms,
// dashboards and tags may be so long that the permitted numbers take gigabytes.
const (
	MaxAlarmBytes     = 32 << 20
	MaxDashboardBytes = 32 << 20
)

// The refusals of records that would exceed these limits. A record that does not grow is not refused.
var (
	ErrAlarmBytes     = errors.New("the alarms of the account are too long")
	ErrDashboardBytes = errors.New("the dashboards of the account are too long")
)

// fits returns an error if an alarm that is put has no room. was is nil if it is new.
func (tx *Tx) fits(was, is *Alarm) error {
	more := len(encode(is))
	if was != nil {
		more -= was.size
	}
	r := tx.monitor.records.RLock()
	defer tx.monitor.records.RUnlock()
	if more > 0 && r.holding(is.Account).bytes+more > MaxAlarmBytes {
		return ErrAlarmBytes
	}
	return nil
}

// fitsDashboard returns an error if a dashboard that is put has no room.
func (tx *Tx) fitsDashboard(d *Dashboard) error {
	more, used := d.weight(), 0
	for _, other := range tx.monitor.Dashboards(d.Account, "") {
		used += other.weight()
		if other.Name == d.Name {
			more -= other.weight()
		}
	}
	if more > 0 && used+more > MaxDashboardBytes {
		return ErrDashboardBytes
	}
	return nil
}

// weight returns the size of a dashboard with its name and tags, in bytes.
func (d *Dashboard) weight() int {
	n := d.Size + len(d.Name)
	for k, v := range d.Tags {
		n += len(k) + len(v)
	}
	return n
}

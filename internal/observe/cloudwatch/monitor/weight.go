package monitor

import "github.com/sluicemq/sluice/internal/observe/cloudwatch/series"

// The limits of the bytes that an account stores.
var (
	AlarmSpace     = series.Space{Of: "alarms", Bytes: 32 << 20}
	DashboardSpace = series.Space{Of: "dashboards", Bytes: 32 << 20}
)

// fits returns an error if an alarm that is put has no room. was is nil if it is new.
func (tx *Tx) fits(was, is *Alarm) error {
	more := len(encode(is))
	if was != nil {
		more -= was.size
	}
	r := tx.monitor.records.RLock()
	defer tx.monitor.records.RUnlock()
	return AlarmSpace.Allow(r.holding(is.Account).bytes, more)
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
	return DashboardSpace.Allow(used, more)
}

// weight returns the size of a dashboard with its name and tags, in bytes.
func (d *Dashboard) weight() int {
	n := d.Size + len(d.Name)
	for k, v := range d.Tags {
		n += len(k) + len(v)
	}
	return n
}

package monitor

import "github.com/sluicemq/sluice/internal/observe/cloudwatch/series"

// The limits of the bytes that an account stores.
var (
	AlarmSpace     = series.Space{Of: "alarms", Bytes: 32 << 20}
	DashboardSpace = series.Space{Of: "dashboards", Bytes: 32 << 20}
)

// putFitting adds or replaces an alarm, unless its account has no room. was is nil if the alarm is new.
func (tx *Tx) putFitting(was, is *Alarm) error {
	record := alarmTable.Write(is)
	more := len(record)
	if was != nil {
		more -= was.size
	}
	if err := AlarmSpace.Allow(tx.monitor.bytesOf(is.Account), more); err != nil {
		return err
	}
	tx.tx.Put(alarmTable.KeyOf(is.Name), record)
	return nil
}

// bytesOf returns how many bytes the alarms of an account take.
func (m *Monitor) bytesOf(account string) int {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return r.holding(account).bytes
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

package monitor

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Dashboard is a dashboard without its text.
type Dashboard struct {
	Account  string
	Name     string
	Modified time.Time
	Size     int // of its text, in bytes
	Tags     map[string]string
}

// ARN returns the dashboard's Amazon Resource Name, which has no region.
func (d *Dashboard) ARN() string { return DashboardARN(d.Account, d.Name) }

// DashboardARN returns the name that a dashboard has, or would have.
func DashboardARN(account, name string) string {
	return "arn:aws:cloudwatch::" + account + ":dashboard/" + name
}

// dashboardRecord is what is stored of a dashboard.
type dashboardRecord struct {
	Account  string
	Name     string
	Modified time.Time
	Body     string
	Tags     map[string]string `json:",omitempty"`
}

func dashboardKey(account, name string) string { return keyDashboard + account + "/" + escape(name) }

// Dashboard returns the dashboard of that name, or nil.
func (m *Monitor) Dashboard(account, name string) *Dashboard {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.dashboards[dashboardKey(account, name)]
}

// Dashboards returns the dashboards of an account whose names begin with a prefix, in order of their names.
func (m *Monitor) Dashboards(account, prefix string) []*Dashboard {
	m.mu.RLock()
	var out []*Dashboard
	for _, d := range m.dashboards {
		if d.Account == account && strings.HasPrefix(d.Name, prefix) {
			out = append(out, d)
		}
	}
	m.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Dashboard) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Body returns the text of a dashboard.
func (m *Monitor) Body(d *Dashboard) (string, error) {
	b, err := m.control.Store().Get([]byte(dashboardKey(d.Account, d.Name)))
	if err != nil || b == nil {
		return "", err
	}
	var r dashboardRecord
	err = json.Unmarshal(b, &r)
	return r.Body, err
}

// PutDashboard adds a dashboard or replaces the one of that name.
func (tx *Tx) PutDashboard(d *Dashboard, body string) {
	tx.tx.Put(dashboardKey(d.Account, d.Name), encode(dashboardRecord{d.Account, d.Name, d.Modified, body, d.Tags}))
}

// DeleteDashboard removes a dashboard.
func (tx *Tx) DeleteDashboard(d *Dashboard) { tx.tx.Delete(dashboardKey(d.Account, d.Name)) }

func (r *records) putDashboard(key string, value []byte) error {
	var d dashboardRecord
	if err := json.Unmarshal(value, &d); err != nil {
		return err
	}
	r.dashboards[key] = &Dashboard{Account: d.Account, Name: d.Name, Modified: d.Modified, Size: len(d.Body), Tags: d.Tags}
	return nil
}

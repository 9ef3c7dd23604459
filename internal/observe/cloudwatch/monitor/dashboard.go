package monitor

import (
	"cmp"
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

	body string // its text, when it is to be written
}

// ARN returns the dashboard's Amazon Resource Name, which has no region.
func (d *Dashboard) ARN() string { return DashboardARN(d.Account, d.Name) }

// DashboardARN returns the ARN of a dashboard, whether or not it exists.
func DashboardARN(account, name string) string {
	return "arn:aws:cloudwatch::" + account + ":dashboard/" + name
}

// dashboardRecord is the stored form of a dashboard.
type dashboardRecord struct {
	Account  string
	Name     string
	Modified time.Time
	Body     string
	Tags     map[string]string `json:",omitempty"`
}

func dashboardKey(account, name string) string { return account + "/" + escape(name) }

// Dashboard returns the dashboard of that name, or nil.
func (m *Monitor) Dashboard(account, name string) *Dashboard {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return r.dashboards[dashboardKey(account, name)]
}

// Dashboards returns the dashboards of an account whose names begin with a prefix, ordered by name.
func (m *Monitor) Dashboards(account, prefix string) []*Dashboard {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return slices.Collect(r.ordered.Range(&Dashboard{Account: account, Name: prefix}, func(d *Dashboard) bool {
		return d.Account == account && strings.HasPrefix(d.Name, prefix)
	}))
}

func byAccountAndName(a, b *Dashboard) int {
	return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(a.Name, b.Name))
}

// Body returns the text of a dashboard.
func (m *Monitor) Body(d *Dashboard) (string, error) {
	b, err := m.control.Store().Get([]byte(dashboardTable.KeyOf(dashboardKey(d.Account, d.Name))))
	if err != nil || b == nil {
		return "", err
	}
	var r dashboardRecord
	err = json.Unmarshal(b, &r)
	return r.Body, err
}

// PutDashboard adds a dashboard, or replaces the one of that name.
func (tx *Tx) PutDashboard(d *Dashboard, body string) error {
	c := *d
	c.body, c.Size = body, len(body)
	if err := tx.fitsDashboard(&c); err != nil {
		return err
	}
	dashboardTable.Put(tx.tx, dashboardKey(d.Account, d.Name), &c)
	return nil
}

// DeleteDashboard removes a dashboard.
func (tx *Tx) DeleteDashboard(d *Dashboard) {
	dashboardTable.Delete(tx.tx, dashboardKey(d.Account, d.Name))
}

// encode returns the record of a dashboard.
func (d *Dashboard) encode() []byte {
	return encode(dashboardRecord{d.Account, d.Name, d.Modified, d.body, d.Tags})
}

func readDashboard(_ string, value []byte) (*Dashboard, error) {
	var d dashboardRecord
	if err := json.Unmarshal(value, &d); err != nil {
		return nil, err
	}
	return &Dashboard{Account: d.Account, Name: d.Name, Modified: d.Modified, Size: len(d.Body), Tags: d.Tags}, nil
}

package prom

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicemq/sluice/internal/tenant"
)

var (
	limitRefusals = desc("limit", "refusals_total",
		"Requests that this node has refused because of a limit of an account or user, by limit.", "limit")
	accountLabels  = []string{"account", "user", "limit"}
	accountLimit   = desc("account", "limit", "Limit of an account, or of a user of it.", accountLabels...)
	accountUsed    = desc("account", "used", "Use of the limit, on all nodes.", accountLabels...)
	accountRefused = desc("account", "refusals_total",
		"Requests that this node has refused because of the limit.", accountLabels...)
)

// Limits adds the metric of refusals by limits.
func (m *Metrics) Limits(refused func() map[tenant.Kind]int64) {
	m.registry.MustRegister(limitCounts{refused})
}

type limitCounts struct {
	refused func() map[tenant.Kind]int64
}

// Describe implements prometheus.Collector.
func (l limitCounts) Describe(out chan<- *prometheus.Desc) { out <- limitRefusals }

// Collect implements prometheus.Collector.
func (l limitCounts) Collect(out chan<- prometheus.Metric) {
	for k, n := range l.refused() {
		counter(out, limitRefusals, float64(n), k.String())
	}
}

// Accounts returns a collector of the metrics of the accounts and users with limits, whose numbers begin with a prefix.
// user returns the name of a user.
func Accounts(all []tenant.Usage, prefix string) prometheus.Gatherer {
	registry := prometheus.NewRegistry()
	var wanted accounts
	for _, u := range all {
		if strings.HasPrefix(u.Account, prefix) {
			wanted = append(wanted, u)
		}
	}
	registry.MustRegister(wanted)
	return registry
}

type accounts []tenant.Usage

// Describe implements prometheus.Collector.
func (a accounts) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{accountLimit, accountUsed, accountRefused} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (a accounts) Collect(out chan<- prometheus.Metric) {
	for _, u := range a {
		for k, most := range u.Limits {
			labels := []string{u.Account, u.User, k.String()}
			gauge(out, accountLimit, float64(most), labels...)
			if used, known := u.Used[k]; known {
				gauge(out, accountUsed, used, labels...)
			}
			counter(out, accountRefused, float64(u.Refused[k]), labels...)
		}
	}
}

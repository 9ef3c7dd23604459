package server

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/admin"
)

// belongings returns what an account may own besides queues, topics, and what IAM manages.
func (a *administration) belongings() []admin.Belongings {
	m := a.monitoring
	return []admin.Belongings{
		{Kind: "subscription", Names: a.topics.records.Subscribing},
		{Kind: "alarm", Names: func(account string) []string {
			alarms, _ := m.monitor.Owned(account)
			return alarms
		}},
		{Kind: "dashboard", Names: func(account string) []string {
			_, dashboards := m.monitor.Owned(account)
			return dashboards
		}},
		{Kind: "anomaly detector", Names: m.detectors.Owned},
		{Kind: "rule of Contributor Insights", Names: m.insights.Owned},
		{Kind: "alarm mute rule", Names: m.mutes.Owned},
		{Kind: "trail", Names: func(account string) (names []string) {
			for _, one := range a.audit.trails.Of(account) {
				names = append(names, one.Name.Name+" in "+one.Region)
			}
			return names
		}},
	}
}

// forget removes what a deleted account leaves behind and cannot be asked to delete.
func (a *administration) forget(ctx context.Context, account string) error {
	if err := a.storage.catalog.Load().BuryOwned(ctx, account); err != nil {
		return err
	}
	if err := a.monitoring.monitor.Forget(ctx, account); err != nil {
		return err
	}
	return a.audit.trail.Forget(ctx, account)
}

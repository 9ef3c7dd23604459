package server

import (
	"context"
	"encoding/json"

	"github.com/sluicemq/sluice/internal/tenant"
)

// openTenants reads the limits of accounts and users. From then on this node exchanges their use with the others.
func (s *Server) openTenants() error {
	t, err := tenant.Open(tenant.Options{
		Control: s.control, Formats: s.formats(), Gone: s.isGone, Stored: s.stored, Now: s.config.Now, Log: s.log,
	})
	s.tenants.Store(t)
	return err
}

// isGone reports whether there is no such account or user.
func (s *Server) isGone(of tenant.Subject) bool {
	if of.User != "" {
		return s.directory.Entity(of.User) == nil
	}
	_, there := s.credentials.Root(of.Account)
	return !there
}

// stored returns what is stored on this machine of some accounts.
func (s *Server) stored(ctx context.Context, accounts map[string]bool) (map[string]tenant.Amount, error) {
	all, err := s.messages.Stored(ctx, accounts)
	out := make(map[string]tenant.Amount, len(all))
	for account, n := range all {
		out[account] = tenant.Amount(n)
	}
	return out, err
}

// tell is NodeEnv.Tell. Nodes send heartbeats before the server knows the limits.
func (s *Server) tell() json.RawMessage { return s.tenants.Load().Tell() }

// hear is NodeEnv.Hear. A node of another version may tell of what this one does not understand.
func (s *Server) hear(node string, told json.RawMessage) {
	if t := s.tenants.Load(); t != nil {
		if err := t.Hear(node, told); err != nil {
			s.log.Debug("what a node tells of the use of limits makes no sense", "error", err)
		}
	}
}

// usages returns the accounts and users that have limits, with their use. Users have their names, and queues, topics
// and subscriptions are counted.
func (s *Server) usages(context.Context) ([]tenant.Usage, error) {
	all := s.tenants.Load().Usages()
	for i := range all {
		u := &all[i]
		if user := s.directory.Entity(u.User); u.User != "" && user != nil {
			u.User = user.Name
			continue
		}
		u.Used[tenant.Queues] = float64(s.catalog.Load().Count(u.Account))
		u.Used[tenant.Topics] = float64(len(s.topics.Owned(u.Account)))
		u.Used[tenant.Subscriptions] = float64(s.topics.CountSubscriptions(u.Account))
	}
	return all, nil
}

package sqs

import "github.com/sluicemq/sluice/internal/catalog"

// configure makes a change of the catalog, from which the engines of the queues
// learn of it before the caller does. If the disk gets stuck, the caller is told
// so and waits no longer.
func (s *Service) configure(q *catalog.Queue, change func(*catalog.Tx) error) error {
	return failure(s.catalog.Change(change), q)
}

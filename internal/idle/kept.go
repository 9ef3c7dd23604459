package idle

import (
	"maps"
	"strings"

	"github.com/sluicemq/sluice/internal/catalog"
)

// appliedBy is the tag of queues that the command apply has created from a file, and would create again.
const appliedBy = "sluice-applied-by"

// kept returns a function that reports whether a queue stays even if it is unused.
func (s *Sweeper) kept() func(*catalog.Queue) bool {
	needed := s.o.Fed()
	maps.Copy(needed, s.o.Watched())
	for _, q := range s.o.Catalog.All() {
		if r := q.Attributes.Redrive; r != nil && r.Target != q.Name.ARN() {
			needed[r.Target] = true
		}
	}
	return func(q *catalog.Queue) bool {
		_, applied := q.Tags[appliedBy]
		return applied || q.Tags[catalog.TagIdle] == catalog.IdleKeep || needed[q.Name.ARN()]
	}
}

// deadLettersOf returns the dead-letter queue of a queue, or nil if there is none, or if it is the queue itself. While
// it has messages, they may be redriven to the queue.
func (s *Sweeper) deadLettersOf(q *catalog.Queue) *catalog.Queue {
	r := q.Attributes.Redrive
	if r == nil || r.Target == q.Name.ARN() {
		return nil
	}
	parts := strings.Split(r.Target, ":") // arn:aws:sqs:region:account:name
	if len(parts) != 6 {
		return nil
	}
	return s.o.Catalog.Find(catalog.Name{Account: parts[4], Region: parts[3], Queue: parts[5]})
}

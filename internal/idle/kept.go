package idle

import "github.com/sluicemq/sluice/internal/catalog"

// appliedBy is the tag of queues that the command apply has made from a file: it would make them again.
const appliedBy = "sluice-applied-by"

// kept returns a function that reports whether a queue stays, whether or not it is used.
func (s *Sweeper) kept() func(*catalog.Queue) bool {
	needed := s.o.Fed()
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

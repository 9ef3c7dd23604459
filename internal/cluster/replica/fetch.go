package replica

import (
	"errors"
	"time"
)

// longestPause is the longest pause between two attempts to fetch a checkpoint.
const longestPause = 10 * time.Second

// fetch fetches a checkpoint of another node's store, because the log no longer holds the records that this store
// needs.
func (m *machine) fetch(reason error) {
	m.lose(reason)
	m.reads.unfollow()
	m.role = Fetching
	m.effects.report("replica is too far behind its log and needs a checkpoint", reason)
	m.asking = m.newTicket()
	m.effects.fetch(m.asking)
}

// onFetched reports that a checkpoint has replaced the store, or why none was available.
func (m *machine) onFetched(ticket uint64, err error) {
	if ticket != m.asking || m.role != Fetching {
		return
	}
	m.asking = 0
	switch {
	case errors.Is(err, ErrNoSource) || errors.Is(err, errReplace):
		m.halt(err)
		return
	case err != nil:
		m.effects.report("no checkpoint available", err)
		m.retry = m.now.Add(min(5*m.again<<min(m.failed, 10), longestPause))
		m.failed++
		return
	}
	m.failed = 0
	m.samples = nil
	m.role = Follower
	m.reads.follow, m.reads.probe = m.now, m.now
}

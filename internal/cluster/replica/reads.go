package replica

import (
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// reads are the reads of a log by one replica, and what they have shown of the log's extent. They do not know what the
// records say.
//
//   - At most one follow, one probe, and one read that the role waits for are in progress. Answers of earlier ones are
//     late, but still show the extent.
//   - A probe begins only if no awaited read is in progress.
//   - The known end of the log never goes back.
type reads struct {
	*base
	following uint64    // ticket of the current follow, or 0
	follow    time.Time // when the next follow may begin
	awaited   uint64    // ticket of the read that the role waits for, or 0
	probing   uint64    // ticket of a read that only checks the extent of the log, or 0
	probe     time.Time // when the next one is due
	from      map[uint64]sharedlog.Position
	extent    sharedlog.Extent
}

// start begins to read the records from a position on, and returns the ticket.
func (r *reads) start(from sharedlog.Position) uint64 {
	t := r.newTicket()
	r.from[t] = from
	r.effects.read(t, from)
	return t
}

// await begins the read that the role waits for.
func (r *reads) await(from sharedlog.Position) { r.awaited = r.start(from) }

// answered ends a read, and returns where it began and whether the role waits for it.
func (r *reads) answered(ticket uint64) (from sharedlog.Position, awaited bool) {
	from = r.from[ticket]
	delete(r.from, ticket)
	if ticket == r.probing {
		r.probing = 0
	}
	if awaited = ticket == r.awaited; awaited {
		r.awaited = 0
	}
	return from, awaited
}

// saw records the extent of the log, as a read from a position has shown it. The error is ErrDiverged if the log lacks
// records that the store has applied.
func (r *reads) saw(extent sharedlog.Extent, from sharedlog.Position) error {
	if extent.Last >= r.extent.Last {
		r.extent = extent
	}
	if extent.Last+1 < from {
		return fmt.Errorf(
			"%w: the store has applied %d records, the log ends at %d", ErrDiverged, from-1, extent.Last,
		)
	}
	return nil
}

// contains records that the log has a record at a position.
func (r *reads) contains(at sharedlog.Position) { r.extent.Last = max(r.extent.Last, at) }

// followIfDue begins to follow the log from a position on, if no follow is in progress.
func (r *reads) followIfDue(from sharedlog.Position) {
	if r.following == 0 && r.isDue(r.follow) {
		r.following = r.newTicket()
		r.effects.follow(r.following, from)
	}
}

// followEnded records that a follow has ended, and reports whether it was the current one. The next one begins after a
// pause.
func (r *reads) followEnded(ticket uint64) bool {
	if ticket != r.following {
		return false
	}
	r.following = 0
	r.follow = r.now.Add(r.again)
	return true
}

// unfollow ends the current follow; the next one may begin at once.
func (r *reads) unfollow() {
	if r.following != 0 {
		r.following = 0
		r.effects.unfollow()
	}
	r.follow = r.now
}

// mayProbe reports whether a probe may begin: no other read is in progress.
func (r *reads) mayProbe() bool { return r.probing == 0 && r.awaited == 0 }

// probeIfDue begins a probe from a position on.
func (r *reads) probeIfDue(from sharedlog.Position) {
	if r.mayProbe() && r.isDue(r.probe) {
		r.probe = r.now.Add(r.probeEvery)
		r.probing = r.newTicket()
		r.from[r.probing] = from
		r.effects.probe(r.probing, from)
	}
}

// nextFollow returns when the next follow may begin, or zero while one is in progress.
func (r *reads) nextFollow() time.Time {
	if r.following != 0 {
		return time.Time{}
	}
	return r.follow
}

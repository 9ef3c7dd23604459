package replica

import "github.com/sluicemq/sluice/internal/cluster/sharedlog"

// effects carries out the machine's decisions. A method with a ticket returns at once. Later, never during the call,
// the machine gets the event that the comment names, with the same ticket. Comments name the methods without an answer.
type effects interface {
	// follow reads the log as it grows. It calls onFollowed for each record, and onFollowEnded at the end.
	follow(ticket uint64, from sharedlog.Position)
	// unfollow ends a follow. It has no answer, and onFollowEnded may still come.
	unfollow()
	// read reads the log from a position on: onRead.
	read(ticket uint64, from sharedlog.Position)
	// probe checks whether the log has records from a position on. Usually it has none: onRead.
	probe(ticket uint64, from sharedlog.Position)
	// append puts a record behind a position if the log ends there: onAppended.
	append(ticket uint64, after sharedlog.Position, data []byte)
	// abandon stops waiting for an append. It has no answer, and onAppended may still come.
	abandon()

	checkLease()                                          // asks whether the lease is held: onLeaseChecked
	take(ticket uint64)                                   // onTaken
	renew(ticket uint64, l sharedlog.Lease, epoch uint64) // onRenewed
	release(ticket uint64, l sharedlog.Lease)             // onReleased

	prepare(ticket uint64)            // Host.Prepare: onPrepared
	claimed(ticket uint64)            // Host.Claimed: onReady
	open(ticket uint64, o *Ownership) // Host.Serve: onOpened, and onStopped when nothing answers any more
	stop()                            // ends what open has built
	fetch(ticket uint64)              // Host.Fetch: onFetched

	// report informs the operator. It has no answer.
	report(what string, err error)
}

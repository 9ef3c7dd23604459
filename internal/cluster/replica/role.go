package replica

// Role is the current activity of a replica.
type Role string

// The way from follower to owner is: scouting, taking, catching up, claiming, opening, owner. Each step can fail, and
// then the replica is a follower again.
const (
	Follower   Role = "follower"    // applies the records of the log
	Scouting   Role = "scouting"    // saw a free lease, and reads the log to its end before taking it
	Taking     Role = "taking"      // requests the lease
	CatchingUp Role = "catching up" // holds the lease, and reads the log to its end
	Claiming   Role = "claiming"    // appends the claim: the record that makes it the owner
	Opening    Role = "opening"     // is the owner, and starts to answer requests
	Owner      Role = "owner"       // serves the shard
	Draining   Role = "draining"    // is the owner, finishes the accepted commits, and hands over
	Leaving    Role = "leaving"     // is no longer the owner; waits until nothing answers requests any more
	Fetching   Role = "fetching"    // fetches a checkpoint, because the log no longer holds the records it needs
	Stopped    Role = "stopped"     // must not continue: its store differs from the log, or failed
)

// Owns reports whether a replica with this role owns its shard: it serves requests, or is about to start or stop
// serving.
func (r Role) Owns() bool { return r == Opening || r == Owner || r == Draining }

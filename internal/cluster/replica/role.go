package replica

// Role is what a replica is doing.
type Role string

// The way from follower to owner is: scouting, taking, catching up, claiming, opening, owner. Each step can fail, and
// then the replica is a follower again.
const (
	Follower   Role = "follower"    // applies what the log brings
	Scouting   Role = "scouting"    // saw that no node holds the lease, and reads the log to its end before it tries
	Taking     Role = "taking"      // asks for the lease
	CatchingUp Role = "catching up" // holds the lease, and reads the log to its end
	Claiming   Role = "claiming"    // appends the claim: the record that makes it the owner
	Opening    Role = "opening"     // is the owner, and builds what answers requests
	Owner      Role = "owner"       // serves the shard
	Draining   Role = "draining"    // is the owner, finishes what it has accepted, and hands over
	Leaving    Role = "leaving"     // is no longer the owner; waits until nothing answers any more
	Fetching   Role = "fetching"    // gets a checkpoint, because the log no longer holds what it needs
	Stopped    Role = "stopped"     // must not go on: its store differs from the log, or failed
)

// Owns reports whether a replica with this role owns its shard: it serves requests, is about to, or is about to stop.
func (r Role) Owns() bool { return r == Opening || r == Owner || r == Draining }

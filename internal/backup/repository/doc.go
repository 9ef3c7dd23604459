// Package repository stores the continuous backups of one data directory in an object store, one for each moment.
//
// # What is guaranteed
//
//   - A listed moment is complete, or an error describes the damage: all objects that it names were stored before it,
//     and no object that a listed moment names is removed. That holds after a crash of either side at any time.
//   - A moment restores the files that it was made from, bit for bit, or nothing.
//   - One data directory writes to a repository. Another one is refused, see [ErrTaken].
//
// # The objects
//
//	owner.json                   which data directory writes here; created once
//	moments/000000000042.json    a moment: JSON, see [Moment]; created when all of its files are there
//	objects/SHA-256              what a file has, under its digest in hex: files that are the same are stored once
//	objects/SHA-256.SIZE.s2      the same, compressed by S2 to SIZE bytes
//
// A file is compressed if that saves at least a sixteenth. The newest tables of a store, which make up most of the
// changes, are not compressed internally; ciphertext does not compress. S2 takes little processor time, and is in the
// program anyway. A moment with compressed objects states that it needs format 22, so that older programs refuse to
// restore it. They may continue as writers, as nodes of a cluster do in turn during an upgrade: they neither name
// compressed objects nor remove them, and know all others that a moment names or removes.
//
// # Objects that vanish
//
// A writer knows which objects it has stored, and does not check for each moment whether they still exist. Once an hour
// it compares what moments name with a list of the objects. Objects that the new moment lacks are stored again, under
// the same names, so that older moments have them, too. Content is compared only when it is read: by Fetch, for a
// restore or a verification.
//
// # Why two writers do no harm
//
// The owner is created on the condition that there is none, and each writer has the identity of its data directory or
// of its cluster, which a restored directory does not inherit.
//
// A copy of a data directory has the same identity as the original, and so have the nodes of a cluster, of which one at
// a time should write. So moments are numbered, and each is created on the condition that there is none of its number:
// of two writers that know the same last moment one succeeds. The other one is refused until its server starts again,
// or, as a node of a cluster, reads the repository again first.
//
// Objects are removed by the same order. A moment lists the objects that no moment names, itself included, and its
// writer removes these after the moment is stored: a writer that was overtaken removes none. The writer of the next
// moment has read that list. For ten minutes it neither relies on an object of it nor stores one again: the other one
// has given up after five. The only clock that counts is the one of each writer's own machine. Between two moments a
// writer removes as many of the objects as there is time for; those that a later moment of its own names, it keeps.
//
// # Why the log is not shipped
//
// Changes that a server acknowledges between two moments are in its write-ahead log, which could be sent behind the
// last moment. But each shard and the control store has a log of its own, so that pieces of them are consistent only
// where a moment holds back the messages between them. A moment itself is such a piece: the tables since the last one,
// and a flush of what is in memory. With one every ten seconds a server has about 1% less throughput; the shortest
// interval is one second.
//
// # Why a new owner begins with all of its tables
//
// In a cluster the owner of the control store writes, because its lease determines which node that is. Nodes flush and
// compact by themselves, so their tables differ, and a node that becomes the owner uploads all of its own that are not
// there. It need not be all of them: those that it uploaded as an earlier owner are there as long as a moment names
// them, an hour at least, so that a rolling restart costs one upload for each node. To keep the writer on its node
// instead, nodes would have to agree on it beside the lease, with a protocol for the cases in which the two differ; and
// a failed node is replaced by one with other tables anyway.
package repository

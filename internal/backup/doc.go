// Package backup puts the files of a data directory into one stream and back.
//
// It guarantees that it restores exactly the files that were written, or nothing: a truncated, mixed up or damaged
// stream leaves no directory that a server would open.
//
// The stream is a tar archive, so that an operator can read it without this program. Its first entry describes the
// backup, its last one has the checksums of the others. Its files may come from several machines; see [Writer].
package backup

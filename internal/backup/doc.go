// Package backup puts the files of a data directory into one stream and back.
//
// It guarantees that what is restored is what was written, file by file, or
// nothing: a stream that was cut short, mixed up or damaged leaves no directory
// that a server would open.
//
// The stream is a tar archive, so that an operator can look into it without this
// program. Its first entry says what it is, its last one has the checksums of the
// others. Its files may come from several machines; see [Writer].
package backup

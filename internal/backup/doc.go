// Package backup puts the files of a data directory into one stream and back.
//
// It guarantees that what is restored is what was written, file by file, or
// nothing: a stream that was cut short, mixed up or damaged leaves no directory
// that a server would open.
//
// The stream is a tar archive, so that a person in need can look into it without
// this program. Its first entry says what it is, its last one the checksums of the
// others.
package backup

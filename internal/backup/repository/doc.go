// Package repository keeps the continuous backups of one data directory in a place for objects, one for each moment.
//
// # What is guaranteed
//
//   - A moment that is listed is whole, or an error says what of it was damaged: all that it names was stored before it,
//     and nothing is removed that a listed moment names. That holds after a crash at any time, of either side.
//   - A moment restores the files that it was made of, bit for bit, or nothing.
//   - One data directory writes to a repository. Another one is refused, see [ErrTaken].
//
// # The objects
//
//	owner.json                   which data directory writes here; created once
//	moments/000000000042.json    a moment: JSON, see [Moment]; created when all of its files are there
//	objects/SHA-256              what a file has, under its digest in hex: files that are the same are stored once
//
// # Why two writers do no harm
//
// The owner is created on the condition that there is none, and each writer has the identity of its data directory,
// which a restored directory does not inherit.
//
// A writer is one goroutine. It sweeps objects only between two moments, so no object is removed that is being named.
//
// A copy of a data directory has the same identity as the original. So moments are numbered, and each is created on the
// condition that there is none of its number: of two writers that know the same last moment one succeeds, and the other
// one is refused until its server starts again. Only a copy that is started while the original sweeps could still name
// an object that is being removed. Verifying the moment finds that.
package repository

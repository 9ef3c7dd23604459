// Package upgrade proves that this program reads what earlier ones have written.
//
// In testdata are data directories of earlier versions, one of each time whose
// records on the disk were others, each with a list of what is in it. They were made by the
// programs of their time, from their source, by scripts/fixtures; half of them are as a
// server leaves them that is killed, half as one that stops in order. The test opens
// each with the program of today, at the time at which it was made, and looks for
// everything that is on the list.
package upgrade

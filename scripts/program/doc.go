// Package program builds Sluice and runs servers of it, for the scripts that measure it: each server has a data directory of
// its own, which is removed when it stops. What a process has used is read from /proc: elsewhere than on Linux it is 0.
package program

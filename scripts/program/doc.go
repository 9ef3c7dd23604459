// Package program runs the scripts that measure and draw. For them it builds Sluice and starts servers, each with a
// data directory of its own, which is removed when it stops. The resources that a process has used are read from
// /proc: on systems other than Linux they are 0.
package program

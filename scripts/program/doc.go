// Package program builds Sluice and runs servers of it, for the scripts that measure it: each server has a data
// directory of its own, which is removed when it stops. The resources that a process has used are read from /proc:
// elsewhere than on Linux they are 0.
package program

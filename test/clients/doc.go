// Package clients runs programs that use the SDKs of other languages against the
// server: the scenarios in this directory, which do what applications do, and
// the programs in examples. What they need is not installed by the tests, which
// leave out what cannot be run and say so.
package clients

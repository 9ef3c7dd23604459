// Package clients runs programs that use the SDKs of other languages against the server: the scenarios in this
// directory, which do what applications do, and the programs in examples. The tests do not install the tools that these
// need; they leave out scenarios that cannot be run and say so.
package clients

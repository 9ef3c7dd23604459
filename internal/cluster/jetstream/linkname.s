// This file has no code. The compiler accepts a function without a body, as in campaign.go and nearby.go, only in a
// package that has a file in assembly.

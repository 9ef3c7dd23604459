// Package sharedlog is the interface of a replicating engine: a log to which
// records are appended at a known position, read, followed and trimmed, and
// leases that name the node that should append.
//
// The log is the truth and a store is the result of applying it, so the log
// alone decides which changes were made (the idea comes from Delos:
// Balakrishnan and others, "Virtual Consensus in Delos", OSDI 2020). The
// interface guarantees that a record is appended where its writer expects the
// end to be, or not at all; that a record is on stable storage of a majority
// once its append has returned nil; and that every node reads the same records
// at the same positions.
//
// Leases are for liveness and routing. Safety never rests on them: they may be
// held twice when clocks go wrong.
//
// Any engine that has these few things can carry the same protocol. The
// conformance suite that it has to pass is the package logtest.
package sharedlog

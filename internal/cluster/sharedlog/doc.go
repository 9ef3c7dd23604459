// Package sharedlog is what Sluice asks of an engine that replicates: a log to
// which records are appended at a known position, read, followed and trimmed,
// and leases that say who should append.
//
// The log is the truth and a store is what comes of applying it, so the log
// alone decides what has happened (the idea comes from Delos: Balakrishnan and
// others, "Virtual Consensus in Delos", OSDI 2020). It guarantees that
// a record is appended where its writer expects the end to be, or not at all;
// that an append which has returned nil is on stable storage of a majority; and
// that every node reads the same records at the same positions.
//
// Leases are for liveness and routing. Safety never rests on them: they may be
// held twice when clocks go wrong.
//
// Any engine that has these few things can carry the same protocol. The
// conformance suite that it has to pass is the package logtest.
package sharedlog

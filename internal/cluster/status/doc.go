// Package status describes the state of a cluster: its nodes and its shards as one node sees them, the problems, and
// advice for the operator.
//
// It does not depend on the implementation of a cluster, so that programs that only show the state need not either.
package status

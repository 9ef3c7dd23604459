// Package status is how a cluster is: its nodes and its shards as one node sees them, what
// is wrong with that, and what a person should do about it.
//
// It knows nothing of how a cluster works, so that those who only show it need not
// either.
package status

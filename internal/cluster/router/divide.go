package router

import (
	"errors"
	"sync"

	"github.com/sluicemq/sluice/internal/shard"
)

// part is the entries of a batch that belong to one shard: their indexes in the
// batch, in order.
type part struct {
	shard   int
	entries []int
}

// divide divides a batch; shardOf returns the shard of an entry.
func divide[E any](batch []E, shardOf func(*E) int) []part {
	var parts []part
next:
	for i := range batch {
		n := shardOf(&batch[i])
		for k := range parts {
			if parts[k].shard == n {
				parts[k].entries = append(parts[k].entries, i)
				continue next
			}
		}
		parts = append(parts, part{n, []int{i}})
	}
	return parts
}

// pick returns the entries of a part.
func pick[E any](batch []E, p part) []E {
	out := make([]E, len(p.entries))
	for k, i := range p.entries {
		out[k] = batch[i]
	}
	return out
}

// each calls f for all elements of a list at the same time, and returns the results in order.
func each[E, R any](list []E, f func(E) R) []R {
	out := make([]R, len(list))
	if len(list) == 1 {
		out[0] = f(list[0])
		return out
	}
	var all sync.WaitGroup
	for i, x := range list {
		all.Go(func() { out[i] = f(x) })
	}
	all.Wait()
	return out
}

// gather calls ask for several shards at the same time. It returns the results in order, and the most serious error.
func gather[R any](shards []int, ask func(n int) (R, error)) ([]R, error) {
	type answer struct {
		got R
		err error
	}
	answers := each(shards, func(n int) answer {
		got, err := ask(n)
		return answer{got, err}
	})
	out, errs := make([]R, len(shards)), make([]error, len(shards))
	for i, a := range answers {
		out[i], errs[i] = a.got, a.err
	}
	return out, firstSerious(errs)
}

// firstSerious returns the most informative error of a call to several shards: one that is not an ErrUnavailable if
// there is one, then one that leaves the outcome open, then an ErrNotBegun.
func firstSerious(errs []error) error {
	var open, certain error
	for _, err := range errs {
		switch {
		case err == nil:
		case !errors.Is(err, shard.ErrUnavailable):
			return err
		case errors.Is(err, shard.ErrNotBegun):
			certain = err
		default:
			open = err
		}
	}
	if open != nil {
		return open
	}
	return certain
}

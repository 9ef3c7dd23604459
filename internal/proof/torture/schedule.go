package torture

import (
	"iter"
	"math/rand/v2"
	"slices"
	"time"
)

// episode is a time of trouble between two calms.
type episode struct {
	calm  time.Duration // before it
	steps []step
}

// step is one fault of an episode.
type step struct {
	kind  string
	after time.Duration // from the beginning of the episode
	lasts time.Duration
	fault fault
}

const (
	calmMost = 12 * time.Second
	// spread is the time within which the faults of an episode begin.
	spread = 4 * time.Second
)

// episodes returns the episodes of a round without an end: the round stops when its time, length, is over. The episodes
// depend on rng only. Half of them have one fault, the others more. Every kind has a turn before any has a second one,
// so that even short runs have variety. Data is removed from a node only when nothing else is wrong: the others must be
// able to restore it.
func episodes(rng *rand.Rand, kinds []kind, nodes int, length time.Duration) iter.Seq[episode] {
	return func(yield func(episode) bool) {
		var turn []int
		for {
			// A short round needs a few, too.
			calm := min(calmMost, length/8)
			e := episode{calm: upTo(rng, calm/4, calm)}
			taken := make(map[lane]bool)
			for most := 1 + rng.IntN(2)*(1+rng.IntN(2)); len(e.steps) < most && len(kinds) > 0; {
				if len(turn) == 0 {
					turn = rng.Perm(len(kinds))
				}
				k := kinds[turn[0]]
				alone := k.name == "wipe"
				f := k.make(rng, nodes)
				on := k.lanes(f)
				if slices.ContainsFunc(on, func(l lane) bool { return taken[l] }) || alone && len(e.steps) > 0 {
					break
				}
				turn = turn[1:]
				for _, l := range on {
					taken[l] = true
				}
				e.steps = append(e.steps, step{
					kind: k.name, after: upTo(rng, 0, min(spread, length/8)),
					lasts: upTo(rng, k.least, max(k.least, min(k.most, length/4))), fault: f,
				})
				if alone {
					break
				}
			}
			if !yield(e) {
				return
			}
		}
	}
}

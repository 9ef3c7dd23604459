package torture

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// plan returns the first episodes of a seed, as a person would read them.
func plan(seed uint64, nodes, n int, length time.Duration) (out []episode, text string) {
	for e := range episodes(rand.New(rand.NewPCG(seed, 0)), kinds, nodes, length) {
		out = append(out, e)
		for _, s := range e.steps {
			text += fmt.Sprint(e.calm, s.kind, s.after, s.lasts, s.fault, "\n")
		}
		if len(out) == n {
			break
		}
	}
	return out, text
}

func TestScheduleFollowsFromTheSeed(t *testing.T) {
	_, one := plan(1, 3, 50, time.Minute)
	_, again := plan(1, 3, 50, time.Minute)
	_, other := plan(2, 3, 50, time.Minute)
	if one != again {
		t.Errorf("the same seed has\n%s\nand\n%s", one, again)
	}
	if one == other {
		t.Error("two seeds have the same episodes")
	}
}

func TestSchedule(t *testing.T) {
	for _, length := range []time.Duration{time.Second, 20 * time.Second, 2 * time.Minute} {
		all, _ := plan(3, 3, 500, length)
		seen := make(map[string]int)
		several := 0
		for _, e := range all {
			on := make(map[lane]bool)
			for _, s := range e.steps {
				seen[s.kind]++
				for _, k := range kinds {
					if k.name != s.kind {
						continue
					}
					acts := []lane{k.lane}
					if a, ok := s.fault.(*absence); k.name == "power" || ok && a.dead {
						acts = append(acts, processes)
					}
					for _, l := range acts {
						if on[l] {
							t.Errorf("two faults have the same target: %+v", e)
						}
						on[l] = true
					}
					if s.lasts < k.least || s.lasts > k.most {
						t.Errorf("%s lasts %v", s.kind, s.lasts)
					}
				}
				if s.kind == "wipe" && len(e.steps) > 1 {
					t.Errorf("a disk is wiped while something else is wrong: %+v", e)
				}
			}
			if len(e.steps) > 1 {
				several++
			}
			if len(e.steps) == 0 {
				t.Error("an episode without a fault")
			}
		}
		for _, k := range kinds {
			if seen[k.name] < 20 {
				t.Errorf("%s occurs %d times in %v", k.name, seen[k.name], seen)
			}
		}
		if several < 100 {
			t.Errorf("%d of %d episodes have several faults", several, len(all))
		}
	}
}

// Without faults there are still episodes, but calm ones.
func TestScheduleOfNothing(t *testing.T) {
	for e := range episodes(rand.New(rand.NewPCG(1, 0)), nil, 3, time.Minute) {
		if len(e.steps) > 0 || e.calm <= 0 {
			t.Errorf("%+v", e)
		}
		break
	}
}

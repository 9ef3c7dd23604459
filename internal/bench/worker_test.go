package bench

import "testing"

// Every group gets messages, however many workers send.
func TestGroups(t *testing.T) {
	for _, producers := range []int{0, 1, 3, 16} {
		w := &worker{run: &run{Config: Config{Producers: producers, Groups: 64}}}
		groups := make(map[int]bool)
		for sender := range producers + backlogSenders {
			for number := range uint64(100) {
				groups[w.group(sender, number)] = true
			}
		}
		if producers != 3 && len(groups) != 64 || len(groups) < 48 {
			t.Errorf("%d producers fill %d groups", producers, len(groups))
		}
	}
}

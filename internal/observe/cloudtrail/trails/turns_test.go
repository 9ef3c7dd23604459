package trails

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// An account whose trails never finish occupies two places, and the others continue. A trail that waits or is served is
// not added again.
func TestTurns(t *testing.T) {
	t.Parallel()
	all := newTurns()
	release := make(chan struct{})
	for range 50 {
		id := uuid.New()
		for range 2 {
			all.add(errand{"slow", id, func() bool { <-release; return false }})
		}
	}
	var mu sync.Mutex
	steps := make(map[uuid.UUID]int)
	var quick sync.WaitGroup
	for account := range 20 {
		id := uuid.New()
		quick.Add(1)
		all.add(errand{strconv.Itoa(account), id, func() bool {
			mu.Lock()
			defer mu.Unlock()
			if steps[id]++; steps[id] == 3 {
				quick.Done()
			}
			return steps[id] < 3
		}})
	}
	quick.Wait()
	all.mu.Lock()
	if all.running["slow"] != maxOfAccount || len(all.waiting["slow"]) != 50-maxOfAccount {
		t.Errorf("of the slow account %d run and %d wait", all.running["slow"], len(all.waiting["slow"]))
	}
	all.mu.Unlock()
	close(release)
	all.wait()
	if all.busy != 0 || len(all.order)+len(all.waiting)+len(all.running)+len(all.known) != 0 {
		t.Errorf("at the end there are %+v", all.order)
	}
}

// With one place left, the accounts take turns, however many trails each has.
func TestTurnsAreFair(t *testing.T) {
	t.Parallel()
	all := newTurns()
	release, begin := make(chan struct{}), make(chan struct{})
	for account := range maxAtOnce - 1 {
		all.add(errand{strconv.Itoa(account), uuid.New(), func() bool { <-release; return false }})
	}
	var served []string // by one goroutine at a time
	for _, account := range []string{"a", "a", "a", "a", "b", "b", "c"} {
		all.add(errand{account, uuid.New(), func() bool {
			<-begin
			if served = append(served, account); len(served) == 7 {
				close(release)
			}
			return false
		}})
	}
	all.mu.Lock()
	if all.busy != maxAtOnce || len(all.order) != 3 {
		t.Errorf("%d are served, and %v wait", all.busy, all.order)
	}
	all.mu.Unlock()
	close(begin)
	all.wait()
	if got := strings.Join(served, ""); got != "aabcaba" {
		t.Errorf("the accounts were served in the order %s", got)
	}
}

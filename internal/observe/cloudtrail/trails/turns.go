package trails

import (
	"sync"

	"github.com/google/uuid"
)

const (
	// maxAtOnce is the number of trails that are served at the same time. Each may hold a file of maxText in memory,
	// several times.
	maxAtOnce = 8
	// maxOfAccount is how many of them may belong to one account.
	maxOfAccount = 2
)

// turns decides which trails are served, and when. Its methods may be called from any goroutine.
//
// It holds that
//
//   - a trail is served by one goroutine at a time, at most maxOfAccount trails of an account are served at the same
//     time, and at most maxAtOnce in all;
//   - an account that waits is in the line exactly once, and no account gets a second turn before all others that may
//     have had theirs.
//
// A turn is a step: about one file. A trail that has more to do goes to the end of its account's line, and the
// account to the end of all accounts. A bucket that does not answer therefore keeps one of the places, for as long as
// a file may take, and others go on with the rest. The pauses after failures (see pause) keep such buckets from all
// places for most of the time.
type turns struct {
	mu      sync.Mutex
	order   []string            // accounts that wait
	waiting map[string][]errand // by account; none is empty
	running map[string]int      // by account
	busy    int                 // all that run
	known   map[uuid.UUID]bool  // trails that wait or run
	all     sync.WaitGroup      // of known
}

// errand is a trail that waits to be served. Its function takes a step, and reports whether there is another one.
type errand struct {
	account string
	trail   uuid.UUID
	step    func() bool
}

func newTurns() *turns {
	return &turns{waiting: make(map[string][]errand), running: make(map[string]int), known: make(map[uuid.UUID]bool)}
}

// add queues a trail, unless it waits or runs already.
func (t *turns) add(e errand) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[e.trail] {
		return
	}
	t.known[e.trail] = true
	t.all.Add(1)
	t.enqueue(e)
	t.start()
}

func (t *turns) enqueue(e errand) {
	if len(t.waiting[e.account]) == 0 {
		t.order = append(t.order, e.account)
	}
	t.waiting[e.account] = append(t.waiting[e.account], e)
}

// start begins as many steps as may run.
func (t *turns) start() {
	for i := 0; i < len(t.order) && t.busy < maxAtOnce; {
		account := t.order[i]
		if t.running[account] == maxOfAccount {
			i++
			continue
		}
		t.order = append(t.order[:i], t.order[i+1:]...)
		line := t.waiting[account]
		if t.waiting[account] = line[1:]; len(line) > 1 {
			t.order = append(t.order, account)
		} else {
			delete(t.waiting, account)
		}
		t.running[account]++
		t.busy++
		go t.run(line[0])
	}
}

func (t *turns) run(e errand) {
	more := e.step()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy--
	if t.running[e.account]--; t.running[e.account] == 0 {
		delete(t.running, e.account)
	}
	if more {
		t.enqueue(e)
	} else {
		delete(t.known, e.trail)
		t.all.Done()
	}
	t.start()
}

// wait returns when nothing waits or runs. Add nothing meanwhile.
func (t *turns) wait() { t.all.Wait() }

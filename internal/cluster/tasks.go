package cluster

import "sync"

// tasks manages a node's background goroutines. The zero value is ready for use.
type tasks struct {
	mu      sync.Mutex
	running sync.WaitGroup
	over    bool
	once    map[string]bool // names of the runOnce tasks in progress
}

// start runs f in the background unless the node is closed. It reports whether it does.
func (t *tasks) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.running.Go(f)
	}
	return !t.over
}

// runOnce is start for a task that never runs twice at the same time.
func (t *tasks) runOnce(name string, f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.once[name] {
		return
	}
	if t.once == nil {
		t.once = make(map[string]bool)
	}
	t.once[name] = true
	t.running.Go(func() {
		defer func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			delete(t.once, name)
		}()
		f()
	})
}

// busy reports whether a task of that name is in progress.
func (t *tasks) busy(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.once[name]
}

// wait waits for all tasks to end. No new ones start.
func (t *tasks) wait() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.running.Wait()
}

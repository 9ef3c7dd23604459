package cluster

import "sync"

// tasks are what a node does in the background. The zero value is ready for use.
type tasks struct {
	mu      sync.Mutex
	running sync.WaitGroup
	over    bool
	once    map[string]bool // those of which one is under way
}

// start does something, unless the node is closed, and reports whether it does.
func (t *tasks) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.running.Go(f)
	}
	return !t.over
}

// runOnce is start for something that is not done twice at a time.
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

// busy reports whether something of that name is under way.
func (t *tasks) busy(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.once[name]
}

// wait waits for the end of all; nothing begins any more.
func (t *tasks) wait() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.running.Wait()
}

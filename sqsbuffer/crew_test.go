package sqsbuffer

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// Functions run concurrently, in goroutines that have run others before. Idle goroutines end, or the bubble would not
// end. A closed crew still runs functions.
func TestCrew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		var mu sync.Mutex
		goroutines := make(map[string]bool)
		for range 3 {
			runTogether(c, 5, func(goroutine string) {
				mu.Lock()
				defer mu.Unlock()
				goroutines[goroutine] = true
			})
			synctest.Wait() // until they wait for more functions
		}
		if len(goroutines) != 5 {
			t.Errorf("%d goroutines have run 5 concurrent functions three times", len(goroutines))
		}
		c.close()
		c.close()
		runTogether(c, 5, func(string) {})
	})
}

// runTogether runs n functions that wait for each other. Each calls f with the name of its goroutine.
func runTogether(c *crew, n int, f func(goroutine string)) {
	var begun, ended sync.WaitGroup
	begun.Add(n)
	for range n {
		ended.Add(1)
		c.run(func() {
			defer ended.Done()
			text := make([]byte, 64)
			name, _, _ := bytes.Cut(text[:runtime.Stack(text, false)], []byte("["))
			f(string(name))
			begun.Done()
			begun.Wait()
		})
	}
	ended.Wait()
}

package eventually_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// attempt records how a test ends.
type attempt struct {
	testing.TB
	said string
}

func (a *attempt) Helper() {}

func (a *attempt) Fatalf(format string, args ...any) {
	a.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestConditionThatHoldsInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		eventually.True(t, "a second later", func() bool { return time.Since(began) >= time.Second })
		eventually.Succeeds(t, func() error { return nil })
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestConditionThatNeverHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, wait := range map[string]func(testing.TB){
			"there are 2": func(tb testing.TB) {
				eventually.Succeeds(tb,
					func() error { return errors.New("there are 2") })
			},
			"not empty": func(tb testing.TB) { eventually.True(tb, "empty", func() bool { return false }) },
		} {
			a := new(attempt)
			over := make(chan struct{})
			go func() {
				defer close(over)
				wait(a)
				t.Errorf("%s: the test continues", want)
			}()
			<-over
			if !strings.Contains(a.said, want) {
				t.Errorf("it reports %q, not that %s", a.said, want)
			}
		}
	})
}

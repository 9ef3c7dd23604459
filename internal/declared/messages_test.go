package declared

import (
	"context"
	"errors"
	"testing"
	"time"
)

// refusal is an error of SQS.
type refusal string

func (r refusal) Error() string     { return string(r) }
func (r refusal) ErrorCode() string { return string(r) }

func TestNamesOfDeletedQueuesAreWaitedFor(t *testing.T) {
	const again = "AWS.SimpleQueueService.QueueDeletedRecently"
	other := errors.New("no")
	for name, test := range map[string]struct {
		answers  []error // of CreateQueue, the last one for ever
		want     error
		calls    int
		sentence bool
	}{
		"at once":      {[]error{nil}, nil, 1, false},
		"after a time": {[]error{refusal(again), refusal(again), nil}, nil, 3, true},
		"refused":      {[]error{other}, other, 1, false},
		"in between":   {[]error{refusal(again), other}, other, 2, true},
		"for too long": {[]error{refusal(again)}, refusal(again), 41, true},
	} {
		waited, calls, said := time.Duration(0), 0, 0
		s := &Session{
			Waiting: func(string) { said++ },
			Pause:   func(_ context.Context, d time.Duration) error { waited += d; return nil },
		}
		err := s.createQueue(t.Context(), newRef(home, QueueKind, "q"), func() error {
			calls++
			return test.answers[min(calls, len(test.answers))-1]
		})
		if !errors.Is(err, test.want) || calls != test.calls || (said == 1) != test.sentence || waited > deletedPatience {
			t.Errorf("%s: %v after %d calls and %s, said %d times", name, err, calls, waited, said)
		}
	}
}

func TestMessagesInWords(t *testing.T) {
	for want, m := range map[string]Messages{
		"no messages":         {},
		"messages: 1 visible": {Visible: 1},
		"messages: 2 visible, 1 in flight, 3 delayed": {2, 1, 3},
		"messages: 9 in flight":                       {InFlight: 9},
	} {
		if got := m.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

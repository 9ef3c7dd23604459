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
		answers  []error // of CreateQueue; the last one repeats
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
		if !errors.Is(err, test.want) || calls != test.calls || (said == 1) != test.sentence ||
			waited > deletedPatience {
			t.Errorf("%s: %v after %d calls and %s, said %d times", name, err, calls, waited, said)
		}
	}
}

func TestMessagesInWords(t *testing.T) {
	for want, m := range map[string]Messages{
		"no messages":         {},
		"messages: 1 visible": {Visible: 1},
		"messages: 2 visible, 1 in flight, 3 delayed": {Visible: 2, InFlight: 1, Delayed: 3},
		"messages: 9 in flight":                       {InFlight: 9},
		"an unknown number of messages":               {InFlight: 9, Unknown: true},
	} {
		if got := m.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A queue for which a service does not count the messages in some state is not empty: no prune deletes it without
// permission.
func TestMessagesThatAreNotCounted(t *testing.T) {
	none := func() map[string]string {
		return map[string]string{
			"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0",
			"ApproximateNumberOfMessagesDelayed": "0",
		}
	}
	plan := func(attributes map[string]string) *Plan {
		is := &Actual{messages: messagesOf(attributes)}
		return &Plan{Steps: []*Step{{Ref: newRef(home, QueueKind, "q"), Action: Delete, was: is}}}
	}
	if err := plan(none()).KeepMessages(); err != nil {
		t.Errorf("an empty queue: %v", err)
	}
	for name := range none() {
		for _, change := range []func(map[string]string){
			func(a map[string]string) { delete(a, name) },
			func(a map[string]string) { a[name] = "many" },
		} {
			attributes := none()
			change(attributes)
			if err := plan(attributes).KeepMessages(); !errors.Is(err, ErrRefused) {
				t.Errorf("%v: %v", attributes, err)
			}
		}
	}
}

package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// A session renews all leases of a process with one message, because all servers of a stream write and sync each of its
// messages. It is a lease itself, with a unique name. Its message names the leases that it renews, and their messages
// name the session. These rules make it as safe as one message for each lease:
//
//   - The session's message names a lease before the lease's own message is in the stream. So if a node sees the
//     lease's message, and the session's message does not name the lease, the session no longer renews it, and never
//     will again.
//   - A renewal succeeds when a message that the session has sent after the request is stored. So the holder counts
//     from before the message was sent.
//   - The session omits a lease whose holder has not requested a renewal for the length of a lease. So a shard that
//     hangs loses its lease, while the process renews others.
//   - A node that wants a lease of a lapsed session first ends the session, by a message that replaces exactly the last
//     one that it has seen. If there is a later one, that fails, and all leases of the session stay with their holder.
type session struct {
	leases *Leases
	own    *lease
	turn   chan struct{} // holds a token while no message is being sent

	mu    sync.Mutex
	asked map[string]request // by the name of a lease
	next  *renewal           // the next message, which is not sent yet
	until time.Time          // earliest time at which the last message lapses
	lost  bool               // no more messages can follow
}

// request is the last request to renew a lease, or to take it.
type request struct {
	by *lease
	at time.Time
}

// renewal is a message of a session that several holders wait for.
type renewal struct {
	done chan struct{}
	err  error
}

// sessionPrefix begins the name of a session's own lease. The rest is its holder.
const sessionPrefix = "session/"

// endedHolder is the holder in a message that has ended a session.
const endedHolder = "ended"

// gatherPart is the part of a lease's length for which a session waits for further holders before it sends a message.
// Holders renew their leases at the same times.
const gatherPart = 150

func newSession(l *Leases) *session {
	id, until := rand.Text(), time.Now().Add(l.ttl)
	s := &session{leases: l, turn: make(chan struct{}, 1), asked: make(map[string]request), until: until}
	s.own = &lease{leases: l, name: sessionPrefix + id, holder: id, until: until}
	s.turn <- struct{}{}
	return s
}

// id returns the name by which the messages of leases refer to the session.
func (s *session) id() string { return s.own.holder }

// add adds a lease that is about to be taken. It returns sharedlog.ErrHeld if this process has the lease, or is taking
// it.
func (s *session) add(ctx context.Context, o *lease) error {
	s.mu.Lock()
	if _, is := s.asked[o.name]; is {
		s.mu.Unlock()
		return sharedlog.ErrHeld
	}
	return s.await(ctx, s.ask(o))
}

// renew renews a lease. It returns sharedlog.ErrLost if the session has ended, or has left the lease out.
func (s *session) renew(ctx context.Context, o *lease) error {
	s.mu.Lock()
	if s.asked[o.name].by != o {
		s.mu.Unlock()
		return sharedlog.ErrLost
	}
	return s.await(ctx, s.ask(o))
}

// ask has the next message renew a lease. s.mu is held.
func (s *session) ask(o *lease) *renewal {
	s.asked[o.name] = request{o, time.Now()}
	if s.next == nil {
		s.next = &renewal{done: make(chan struct{})}
		go s.send(s.next)
	}
	return s.next
}

// await unlocks s.mu, and waits until a message is stored.
func (s *session) await(ctx context.Context, r *renewal) error {
	s.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drop leaves a lease out of further messages.
func (s *session) drop(o *lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[o.name].by == o {
		delete(s.asked, o.name)
	}
}

// send sends a message for all holders that have requested one by then.
func (s *session) send(r *renewal) {
	defer close(r.done)
	time.Sleep(s.leases.ttl / gatherPart)
	<-s.turn // messages follow one another
	defer func() { s.turn <- struct{}{} }()
	s.mu.Lock()
	s.next = nil
	began := time.Now()
	value := s.value(began)
	s.mu.Unlock()
	// A message to a leader that has died is lost. The next one follows when there may be another leader.
	for _, part := range []time.Duration{6, 3} {
		r.err = s.sendOnce(value, s.leases.ttl/part)
		if r.err == nil || errors.Is(r.err, sharedlog.ErrLost) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.err == nil {
		s.until = began.Add(s.leases.ttl)
	}
	s.lost = errors.Is(r.err, sharedlog.ErrLost)
}

// sendOnce sends a message, and waits so long until it is stored.
func (s *session) sendOnce(value []byte, bound time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	return s.own.Renew(ctx, value)
}

// value returns the names of the leases that the next message renews, and forgets those that were not renewed by their
// holders. s.mu is held.
func (s *session) value(now time.Time) []byte {
	maps.DeleteFunc(s.asked, func(_ string, r request) bool { return now.Sub(r.at) > s.leases.ttl })
	value, err := json.Marshal(slices.Sorted(maps.Keys(s.asked)))
	if err != nil {
		panic(err) // strings
	}
	return value
}

// isOver reports whether the session can renew nothing any more.
func (s *session) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost || time.Now().After(s.until)
}

// session returns the session of this process, a new one if the last one has ended.
func (l *Leases) session() *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil || l.current.isOver() {
		l.current = newSession(l)
	}
	return l.current
}

// ending is a session that has lapsed, and its last message.
type ending struct {
	session  string
	sequence uint64 // 0: none
}

// end ends a session of another process, or a former one of this process. It returns sharedlog.ErrHeld if the session
// has another message than the one that was seen.
func (l *Leases) end(ctx context.Context, e ending) error {
	one := &lease{leases: l, name: sessionPrefix + e.session, holder: endedHolder, revision: e.sequence}
	err := one.publish(ctx, nil)
	if isCode(err, codeWrongLast, codeWrongLastInWork) {
		return sharedlog.ErrHeld
	}
	if err == nil {
		l.seen.ended(e.session, one.revision)
	}
	return err
}

// isSession reports whether a name in the stream of leases belongs to a session.
func isSession(name string) bool { return strings.HasPrefix(name, sessionPrefix) }

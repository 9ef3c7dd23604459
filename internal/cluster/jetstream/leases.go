package jetstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// Leases are messages of a stream, one for each name. A holder renews its lease by replacing its last message, and
// releases it by deleting that message.
//
// Each message states its duration, or names the session that does so for all leases of its process. A node that wants
// the lease measures the duration by its own clock, from the moment at which it saw the message; see sightings. The
// stream also expires messages, by the clocks of its servers, after the longest duration of any message. This is for
// nodes of older versions: they do not know sessions, or write messages without a duration, and rely on the stream
// alone. For them, the holder of a lease with a session replaces the lease's message before the stream expires it.
type Leases struct {
	conn    *Conn
	stream  string
	subject string // and the name of the lease
	ttl     time.Duration
	memory  time.Duration // minimum time for which the stream keeps a message
	seen    *sightings

	published atomic.Uint64 // messages

	ending sync.Mutex // held while a session is ended; leases of one session are often wanted together

	mu      sync.Mutex
	current *session // nil before the first Take
	// undecided holds the holders that this process would be if their Take had succeeded.
	undecided map[string]string
}

var _ sharedlog.Leases = (*Leases)(nil)

// Headers of a lease's message.
const (
	holderHeader  = "Sluice-Holder"  // the holder; each Take draws a new one
	renewalHeader = "Sluice-Renewal" // the number of the message among those of its process
	lengthHeader  = "Sluice-Length"  // its duration in milliseconds
	sessionHeader = "Sluice-Session" // or the session that renews it
)

// leasesStream is the name of the stream of leases.
const leasesStream = "leases"

// leasesAtOnce is how many leases are listed with one request.
const leasesAtOnce = 512

// shortestMemory is the minimum time for which the stream keeps a message. Programs that do not know sessions or
// durations rely on it. The messages of a session's leases are written again after a third of it.
const shortestMemory = 30 * time.Second

// Leases returns the leases of the cluster. Leases taken here last for ttl, in milliseconds. Their stream is created
// like the stream of a log. An existing stream gets a maximum age of at least ttl, and never a shorter one than before,
// because another node may rely on it.
func (c *Conn) Leases(ctx context.Context, ttl time.Duration, replicas int) (*Leases, error) {
	l := &Leases{
		conn:      c,
		stream:    c.stream(leasesStream),
		subject:   c.subject("lease", ""),
		ttl:       ttl.Truncate(time.Millisecond),
		memory:    max(shortestMemory, ttl),
		seen:      newSightings(),
		undecided: make(map[string]string),
	}
	config := js.StreamConfig{
		Name:              l.stream,
		Description:       "Sluice: who owns what",
		Subjects:          []string{l.subject + "*"},
		Storage:           js.FileStorage,
		Replicas:          replicas,
		Retention:         js.LimitsPolicy,
		Discard:           js.DiscardOld,
		MaxMsgsPerSubject: 1,
		MaxAge:            l.memory,
		AllowDirect:       true,
		Duplicates:        100 * time.Millisecond,
	}
	for {
		if err := c.createStream(ctx, config); err != nil {
			return nil, err
		}
		var info js.StreamInfo
		err := c.askUntilAnswered(ctx, apiInfo+l.stream, struct{}{}, &info)
		if err == nil && info.Config.MaxAge >= config.MaxAge {
			break
		}
		// The request may reach a server that is starting and does not know the stream, or its new age, yet.
		if err != nil && !isCode(err, codeStreamNotFound) {
			return nil, err
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return l, l.listen()
}

// listen records each renewal of any node when it is made.
func (l *Leases) listen() error {
	_, err := l.conn.nc.Subscribe(l.subject+"*", func(m *nats.Msg) {
		if name, err := untoken(strings.TrimPrefix(m.Subject, l.subject)); err == nil {
			l.seen.hear(name, m, time.Now())
		}
	})
	return err
}

// LeaseCopies returns the number of complete and present replicas of the leases, and the number that there should be.
// It asks once.
func (c *Conn) LeaseCopies(ctx context.Context) (current, wanted int, err error) {
	return c.copies(ctx, c.stream(leasesStream))
}

// TTL implements sharedlog.Leases.
func (l *Leases) TTL() time.Duration { return l.ttl }

// Expire makes the next list read the stream, and frees the leases that are missing there, because a node has reported
// a release.
func (l *Leases) Expire() { l.seen.expire() }

type lease struct {
	leases  *Leases
	name    string
	holder  string
	session *session // renews it; nil for a session itself, which states its duration

	mu       sync.Mutex
	revision uint64    // of the last message known to belong to this holder
	value    []byte    // of that message
	sent     time.Time // before that message was sent
	until    time.Time // earliest time at which that one is forgotten
	unsure   bool      // there may be a newer one
	gone     bool      // released or lost
}

// errUndecided reports that an earlier change of the lease is still undecided.
var errUndecided = errors.New("an earlier change is not decided yet")

// Take implements sharedlog.Leases.
func (l *Leases) Take(ctx context.Context, name string, value []byte) (sharedlog.Lease, error) {
	l.mu.Lock()
	holder, again := l.undecided[name]
	l.mu.Unlock()
	if !again {
		holder = rand.Text()
	}
	one := &lease{leases: l, name: name, holder: holder, session: l.session()}
	err := undecided(one.session.add(ctx, one))
	if err == nil {
		err = l.take(ctx, one, value, again)
	}
	if err != nil {
		one.session.drop(one)
		return nil, fmt.Errorf("take the lease of %s: %w", name, err)
	}
	return one, nil
}

// undecided returns err, or another error in its place if it says that the session is lost.
func undecided(err error) error {
	if errors.Is(err, sharedlog.ErrLost) {
		return errUndecided
	}
	return err
}

// take is Take, when the session renews the lease. again means that an earlier Take with this holder is undecided.
func (l *Leases) take(ctx context.Context, one *lease, value []byte, again bool) (err error) {
	one.revision, err = l.vacate(ctx, one)
	if err != nil {
		return err
	}
	err = one.publish(ctx, value)
	if again && isCode(err, codeWrongLast) {
		// The holder may be this process, by a message that it has published itself.
		one.unsure = true
		err = one.renew(ctx, value)
		if errors.Is(err, sharedlog.ErrLost) {
			err = sharedlog.ErrHeld
		}
	}
	if isCode(err, codeWrongLast, codeWrongLastInWork) {
		err = sharedlog.ErrHeld
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil, errors.Is(err, sharedlog.ErrHeld):
		delete(l.undecided, one.name)
	default:
		l.undecided[one.name] = one.holder
	}
	return err
}

// vacate returns the sequence of the message that a new one of a lease may replace, after it has ended the session of
// that message if need be. It returns sharedlog.ErrHeld if the lease counts.
func (l *Leases) vacate(ctx context.Context, one *lease) (revision uint64, err error) {
	l.ending.Lock()
	defer l.ending.Unlock()
	for range endTries {
		revision, of, counts := l.seen.lapsed(one.name, one.session.id(), time.Now())
		switch {
		case counts:
			return 0, sharedlog.ErrHeld
		case of == nil:
			return revision, nil
		}
		err = l.end(ctx, *of)
		if errors.Is(err, sharedlog.ErrHeld) {
			err = errors.Join(wait.For(ctx, endPause), l.read(ctx)) // another node has ended it, or it is renewed
		}
		if err != nil {
			return 0, fmt.Errorf("end its last session: %w", err)
		}
	}
	return 0, sharedlog.ErrHeld
}

// endTries limits how often a node checks whether a session that it wants to end has ended. endPause is the time for
// another node's change to reach the nearby server.
const (
	endTries = 4
	endPause = 5 * time.Millisecond
)

// shortAttempt is the minimum time that a lease message may take to be stored. A message that arrives while the stream
// elects its leader is lost, and a shard without an owner may be waiting for it.
const shortAttempt = 500 * time.Millisecond

// publish replaces the last message with a new one.
func (o *lease) publish(ctx context.Context, value []byte) error {
	ctx, cancel := context.WithTimeout(ctx, min(attempt, max(o.leases.ttl/3, shortAttempt)))
	defer cancel()
	start := time.Now()
	m := nats.NewMsg(o.leases.subject + token(o.name))
	m.Header.Set(js.ExpectedLastSubjSeqHeader, strconv.FormatUint(o.revision, 10))
	m.Header.Set(holderHeader, o.holder)
	m.Header.Set(renewalHeader, strconv.FormatUint(o.leases.published.Add(1), 10))
	if o.session != nil {
		m.Header.Set(sessionHeader, o.session.id())
	} else {
		m.Header.Set(lengthHeader, strconv.FormatInt(o.leases.ttl.Milliseconds(), 10))
	}
	m.Data = value
	revision, err := o.leases.conn.publish(ctx, m)
	if err == nil {
		o.revision, o.unsure, o.value, o.sent, o.until = revision, false, value, start, start.Add(o.leases.ttl)
	}
	return err
}

// find finds this holder's message, if there is one.
func (o *lease) find(ctx context.Context) error {
	m, err := o.leases.conn.get(ctx, o.leases.stream, getRequest{LastBy: o.leases.subject + token(o.name)})
	switch {
	case isCode(err, codeNoMessage) || err == nil && holderOf(m.Header) != o.holder:
		return sharedlog.ErrLost
	case err != nil:
		return err
	}
	o.revision = m.Sequence
	return nil
}

// holderOf returns the holder in a message's header, in the form of the API's response.
func holderOf(header []byte) string {
	for line := range bytes.Lines(header) {
		if key, value, ok := strings.Cut(string(line), ":"); ok && textproto.CanonicalMIMEHeaderKey(key) == holderHeader {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Renew implements sharedlog.Lease.
func (o *lease) Renew(ctx context.Context, value []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	// Replicas forget it each by its own clock, the leader perhaps later than
	// others. The holder does not wait for them.
	if o.gone || o.session == nil && time.Now().After(o.until) {
		o.lose()
		return sharedlog.ErrLost
	}
	err := o.extend(ctx, value)
	if errors.Is(err, sharedlog.ErrLost) {
		o.lose()
		return sharedlog.ErrLost
	}
	if err != nil {
		return fmt.Errorf("renew the lease of %s: %w", o.name, err)
	}
	return nil
}

// lose records that the lease is lost. o.mu is held.
func (o *lease) lose() {
	o.gone = true
	if o.session != nil {
		o.session.drop(o)
	}
}

// extend renews the lease by its session, and puts a new message in the place of the last one if there is no session,
// the value is new, or the stream would forget the message. o.mu is held.
func (o *lease) extend(ctx context.Context, value []byte) error {
	if o.session != nil {
		if err := o.session.renew(ctx, o); err != nil {
			return err
		}
		if !o.unsure && bytes.Equal(o.value, value) && time.Since(o.sent) < o.leases.memory/3 {
			return nil
		}
	}
	return o.renew(ctx, value)
}

func (o *lease) renew(ctx context.Context, value []byte) error {
	for range 2 {
		if o.unsure {
			if err := o.find(ctx); err != nil {
				return err
			}
		}
		err := o.publish(ctx, value)
		if err == nil {
			return nil
		}
		o.unsure = true
		if !isCode(err, codeWrongLast) {
			return err
		}
		// Another holder has it, or an earlier message of this holder was stored in between.
	}
	return errUndecided
}

// Release implements sharedlog.Lease.
func (o *lease) Release(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone {
		return nil
	}
	o.session.drop(o) // so that it lapses if the message stays
	err := o.release(ctx)
	if err == nil || errors.Is(err, sharedlog.ErrLost) {
		o.gone = true
		o.leases.seen.released(o.name)
		return nil
	}
	o.unsure = true
	return fmt.Errorf("release the lease of %s: %w", o.name, err)
}

func (o *lease) release(ctx context.Context) error {
	for {
		if o.unsure {
			if err := o.find(ctx); err != nil {
				return err
			}
		}
		request := struct {
			Sequence uint64 `json:"seq"`
			NoErase  bool   `json:"no_erase"` // it is forgotten, not overwritten
		}{o.revision, true}
		var response struct{}
		err := o.leases.conn.ask(ctx, apiDelete+o.leases.stream, request, &response)
		if isCode(err, codeNoMessage, codeDeleteFailed) && !o.unsure {
			o.unsure = true // that lease does not exist; check which node holds it
			continue
		}
		return err
	}
}

// List implements sharedlog.Leases.
func (l *Leases) List(ctx context.Context) (map[string][]byte, error) {
	if held, fresh := l.seen.list(time.Now()); fresh {
		return held, nil
	}
	if err := l.read(ctx); err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	held, _ := l.seen.list(time.Now())
	return held, nil
}

// read reads all leases from the stream.
func (l *Leases) read(ctx context.Context) error {
	begun := l.seen.begin()
	all := make(map[string]sighting)
	for next, more := uint64(1), 1; more > 0; {
		request := struct {
			Sequence uint64 `json:"seq"`
			Next     string `json:"next_by_subj"`
			Batch    int    `json:"batch"`
		}{next, l.subject + "*", leasesAtOnce}
		// A lease that is renewed meanwhile moves to the end and is seen there.
		got := false
		var err error
		more, err = l.conn.directGet(ctx, l.stream, request, leasesAtOnce, func(sequence uint64, m *nats.Msg) error {
			got = true
			next = sequence + 1
			name, err := untoken(strings.TrimPrefix(m.Header.Get(js.SubjectHeader), l.subject))
			if err == nil {
				all[name] = sightingOf(sequence, m)
			}
			return err
		})
		if err != nil {
			return err
		}
		if !got {
			break
		}
	}
	l.seen.read(all, begun, time.Now())
	return nil
}

package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// A Log is a log in a stream.
type Log struct {
	conn    *Conn
	name    string
	stream  string
	subject string // of the records
	tail    string // the subject of notices that the log has grown

	mu    sync.Mutex
	known sharedlog.Position // the log has reached at least this position
	tries int                // consecutive appends without a timely acknowledgement
}

var _ sharedlog.Log = (*Log)(nil)

const (
	// readAtOnce limits the result of one Read in bytes, except for its first record.
	readAtOnce = 4 << 20
	// recordsAtOnce limits it in records.
	recordsAtOnce = 512
	// trimAtOnce is how many records one purge removes: appends wait meanwhile.
	trimAtOnce = 1000
	// appendPace is the number of bytes for which an append waits a second longer for its acknowledgement.
	appendPace = 4 << 20
)

// Log returns the log of that name with the given number of replicas, and creates it if necessary. A log with fewer
// replicas gets more. It retries until ctx ends.
func (c *Conn) Log(ctx context.Context, name string, replicas int) (*Log, error) {
	l := &Log{
		conn:    c,
		name:    name,
		stream:  c.stream(token(name)),
		subject: c.subject("log", token(name)),
		tail:    c.subject("tail", token(name)),
	}
	err := c.createStream(ctx, js.StreamConfig{
		Name:        l.stream,
		Description: "Sluice: the log of shard " + name,
		Subjects:    []string{l.subject},
		Storage:     js.FileStorage,
		Replicas:    replicas,
		Retention:   js.LimitsPolicy,
		Discard:     js.DiscardNew,
		MaxMsgSize:  MaxPayload,
		DenyDelete:  true,
		AllowDirect: true,
		Duplicates:  100 * time.Millisecond, // no message is sent that would need it
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Append implements sharedlog.Log.
func (l *Log) Append(ctx context.Context, after sharedlog.Position, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(data) > sharedlog.MaxRecord {
		return fmt.Errorf("a record of %d bytes is too long for the log", len(data))
	}
	err := l.publish(ctx, after, data)
	if err == nil {
		l.knows(after + 1)
		// Followers get a notice at once. If the notice is lost, they find the record themselves.
		_ = l.conn.nc.Publish(l.tail, strconv.AppendUint(nil, uint64(after+1), 10))
		return nil
	}
	if !isCode(err, codeWrongLast, codeWrongLastInWork) {
		return fmt.Errorf("append to log %s: %w", l.name, err)
	}
	e, barred := l.extent(ctx, true)
	switch {
	case barred != nil:
		return fmt.Errorf("append to log %s: %w, which is not decided yet: %w", l.name, err, barred)
	case e.Last == after:
		return fmt.Errorf("append to log %s: %w, which is not decided yet", l.name, err)
	}
	return sharedlog.ErrConflict
}

// publish publishes a record once. While there is no leader to receive it, it waits for one.
func (l *Log) publish(ctx context.Context, after sharedlog.Position, data []byte) (err error) {
	ctx, cancel := context.WithTimeout(ctx, l.patience()+time.Duration(len(data))*time.Second/appendPace)
	defer cancel()
	defer func() { l.tried(errors.Is(err, context.DeadlineExceeded)) }()
	for {
		m := nats.NewMsg(l.subject)
		m.Header.Set(js.ExpectedLastSeqHeader, strconv.FormatUint(uint64(after), 10))
		m.Data = data
		ack, err := l.conn.publish(ctx, m)
		if errors.Is(err, errNoResponders) && wait.For(ctx, 20*time.Millisecond) == nil {
			continue
		}
		if err == nil && ack != uint64(after+1) {
			err = fmt.Errorf("stored at %d, not at %d", ack, after+1)
		}
		return err
	}
}

// patience is how long an append waits for its acknowledgement when the caller would wait longer. When the leader dies,
// none comes, and an early repetition reaches the next leader sooner. But a leader with a busy disk needs time.
func (l *Log) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return min(firstAttempt<<l.tries, attempt)
}

// tried records whether an append was acknowledged in time.
func (l *Log) tried(late bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !late {
		l.tries = 0
	} else if l.tries < 8 {
		l.tries++
	}
}

// publish publishes a message to a stream once and returns the sequence at which
// it was stored.
func (c *Conn) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	one, err := c.call(m, 1)
	if err != nil {
		return 0, err
	}
	defer one.close()
	reply, err := one.receive(ctx)
	if err != nil {
		return 0, err
	}
	var ack struct {
		Sequence uint64       `json:"seq"`
		Error    *js.APIError `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil {
		return 0, fmt.Errorf("JetStream's acknowledgement: %w", err)
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	return ack.Sequence, nil
}

// knows records that the log has reached a position, and returns the highest such position.
func (l *Log) knows(p sharedlog.Position) sharedlog.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = max(l.known, p)
	return l.known
}

// extent returns the extent of the log according to its leader; with a barrier, at some moment after the call began.
func (l *Log) extent(ctx context.Context, barrier bool) (sharedlog.Extent, error) {
	known := l.knows(0)
	for {
		if barrier {
			if err := l.conn.barrier(ctx, l.stream); err != nil {
				return sharedlog.Extent{}, err
			}
		}
		var info js.StreamInfo
		if err := l.conn.askUntilAnswered(ctx, apiInfo+l.stream, struct{}{}, &info); err != nil {
			return sharedlog.Extent{}, err
		}
		e := sharedlog.Extent{
			First: sharedlog.Position(max(info.State.FirstSeq, 1)), // 0 before the first record
			Last:  sharedlog.Position(info.State.LastSeq),
			Bytes: int64(info.State.Bytes),
		}
		// The server that answered may have been deposed and not know. The one in this process often knows more.
		later, more, _ := l.conn.server.records(l.stream, e.Last+1)
		e.Last += sharedlog.Position(len(later))
		if e.Last >= known && !more {
			l.knows(e.Last)
			return e, nil
		}
		// It has not applied all of the log, or was deposed long ago.
		if err := wait.For(ctx, 50*time.Millisecond); err != nil {
			return sharedlog.Extent{}, fmt.Errorf("%w: server %s says that the log ends at %d, but it reached %d",
				err, leaderOf(&info), e.Last, known)
		}
	}
}

func leaderOf(info *js.StreamInfo) string {
	if info.Cluster == nil {
		return ""
	}
	return info.Cluster.Leader
}

var _ sharedlog.Estimator = (*Log)(nil)

// Estimate implements sharedlog.Estimator.
func (l *Log) Estimate(ctx context.Context) (sharedlog.Extent, error) { return l.extent(ctx, false) }

// Read implements sharedlog.Log.
func (l *Log) Read(ctx context.Context, from sharedlog.Position) ([]sharedlog.Record, sharedlog.Extent, error) {
	return l.read(ctx, from, true)
}

func (l *Log) read(ctx context.Context, from sharedlog.Position, barrier bool) (
	[]sharedlog.Record, sharedlog.Extent, error,
) {
	for {
		e, err := l.extent(ctx, barrier)
		switch {
		case err != nil:
			return nil, e, fmt.Errorf("read log %s: %w", l.name, err)
		case from < e.First:
			return nil, e, sharedlog.ErrTrimmed
		case from > e.Last:
			return nil, e, nil
		}
		records, _, err := l.near(ctx, from, true)
		if len(records) == 0 {
			records, err = l.fromLeader(ctx, from, e.Last)
		}
		if len(records) > 0 {
			e.Last = max(e.Last, records[len(records)-1].Position)
			return records, e, nil
		}
		// The records may have been trimmed meanwhile. If not, another replica will have them.
		barrier = false
		if wait.For(ctx, 20*time.Millisecond) != nil {
			return nil, e, fmt.Errorf("read log %s: %w: %w", l.name, ctx.Err(), err)
		}
	}
}

// errGap reports that the server has records, but not the next one.
var errGap = errors.New("the next record is not there")

// near returns records from a copy of the log, and whether the copy has more. They are committed, but the log may be
// longer. It reads the copy of the server in this process. If that has none, and far is set or there is no such copy,
// near asks for any copy.
func (l *Log) near(
	ctx context.Context, from sharedlog.Position, far bool,
) (out []sharedlog.Record, more bool, err error) {
	out, more, kept := l.conn.server.records(l.stream, from)
	if len(out) == 0 && (far || !kept) {
		out, more, err = l.fromAny(ctx, from)
	}
	if len(out) > 0 {
		l.knows(out[len(out)-1].Position)
		return out, more, nil
	}
	return nil, false, err
}

// fromAny returns the same from any copy.
func (l *Log) fromAny(ctx context.Context, from sharedlog.Position) (out []sharedlog.Record, more bool, err error) {
	request := struct {
		Sequence uint64 `json:"seq"`
		Batch    int    `json:"batch"`
		MaxBytes int    `json:"max_bytes"`
	}{uint64(from), recordsAtOnce, readAtOnce}
	pending, err := l.conn.directGet(ctx, l.stream, request, recordsAtOnce, func(sequence uint64, m *nats.Msg) error {
		if p := from + sharedlog.Position(len(out)); sequence != uint64(p) {
			return errGap
		}
		out = append(out, sharedlog.Record{Position: sharedlog.Position(sequence), Data: m.Data})
		return nil
	})
	return out, pending > 0, err
}

// directGet reads a batch of messages of a stream from one of its replicas. It returns the number of remaining
// messages.
func (c *Conn) directGet(
	ctx context.Context, stream string, request any, batch int, f func(sequence uint64, m *nats.Msg) error,
) (
	more int, err error,
) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	data, err := json.Marshal(request)
	if err != nil {
		return 0, err
	}
	one, m, err := c.callUntilAnswered(ctx, apiDirectGet+stream, data, batch+1)
	if err != nil {
		return 0, err
	}
	defer one.close()
	for {
		switch status := m.Header.Get("Status"); status {
		case "":
		case "204": // the end of the batch
			more, _ = strconv.Atoi(m.Header.Get("Nats-Num-Pending"))
			return more, nil
		case "404":
			return 0, nil
		default:
			return 0, fmt.Errorf("JetStream's direct get: %s %s", status, m.Header.Get("Description"))
		}
		sequence, err := strconv.ParseUint(m.Header.Get(js.SequenceHeader), 10, 64)
		if err == nil {
			err = f(sequence, m)
		}
		if err == nil {
			m, err = one.receive(ctx)
		}
		if err != nil {
			return 0, err
		}
	}
}

// fromLeader returns records up to a position from the log's leader, for when the
// replica nearby lags behind.
func (l *Log) fromLeader(ctx context.Context, from, to sharedlog.Position) (out []sharedlog.Record, err error) {
	for size := 0; from <= to && size < readAtOnce && len(out) < recordsAtOnce; from++ {
		m, err := l.conn.get(ctx, l.stream, getRequest{Sequence: uint64(from)})
		if err != nil {
			return out, err
		}
		out = append(out, sharedlog.Record{Position: from, Data: m.Data})
		size += len(m.Data)
	}
	return out, nil
}

type getRequest struct {
	Sequence uint64 `json:"seq,omitempty"`
	LastBy   string `json:"last_by_subj,omitempty"`
}

// message is a message as the leader of its stream returns it.
type message struct {
	Sequence uint64 `json:"seq"`
	Header   []byte `json:"hdrs"`
	Data     []byte `json:"data"`
}

// get gets one message from the leader of a stream.
func (c *Conn) get(ctx context.Context, stream string, request getRequest) (*message, error) {
	var response struct {
		Message message `json:"message"`
	}
	if err := c.ask(ctx, apiGet+stream, request, &response); err != nil {
		return nil, err
	}
	return &response.Message, nil
}

// Trim implements sharedlog.Log.
func (l *Log) Trim(ctx context.Context, to sharedlog.Position) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := l.extent(ctx, false)
	if err != nil {
		return fmt.Errorf("trim log %s: %w", l.name, err)
	}
	to = min(to, e.Last) // a purge beyond the end would move it
	for next := e.First; next <= to; {
		next = min(next+trimAtOnce, to+1)
		if err := l.conn.purge(ctx, l.stream, uint64(next)); err != nil {
			return fmt.Errorf("trim log %s: %w", l.name, err)
		}
	}
	return nil
}

// Leader is the name of the server that leads the log, as far as known.
func (l *Log) Leader(ctx context.Context) (string, error) {
	var info js.StreamInfo
	if err := l.conn.askUntilAnswered(ctx, apiInfo+l.stream, struct{}{}, &info); err != nil {
		return "", err
	}
	return leaderOf(&info), nil
}

// ErrNoLeader reports that a log has no leader at present.
var ErrNoLeader = errors.New("the log has no leader")

// Copies returns the number of complete and present replicas of the log, according to its leader, and the number that
// it should have. It asks once.
func (l *Log) Copies(ctx context.Context) (current, wanted int, err error) {
	return l.conn.copies(ctx, l.stream)
}

// Lead makes a server the log's leader: an owner next to the leader saves a hop
// with each append. The server must have a replica; one that is not up to date is
// waited for. Appends may fail, or wait, while the lead moves, so that it is not moved
// many times.
func (l *Log) Lead(ctx context.Context, server string) error {
	var err error
	for moves := 0; moves < leadTries; {
		var info js.StreamInfo
		if err := l.conn.askUntilAnswered(ctx, apiInfo+l.stream, struct{}{}, &info); err != nil {
			return err
		}
		if leaderOf(&info) == server {
			return nil
		}
		at := -1
		if info.Cluster != nil {
			at = slices.IndexFunc(info.Cluster.Replicas, func(p *js.PeerInfo) bool { return p.Name == server })
		}
		if at < 0 {
			return fmt.Errorf("move log %s to server %s: it has no replica", l.name, server)
		}
		if p := info.Cluster.Replicas[at]; p.Current && !p.Offline {
			type placement struct {
				Preferred string `json:"preferred"`
			}
			var response struct{}
			// A server that is not sure of its meta group does not answer, and the lead may have moved nevertheless.
			err = l.conn.askFor(
				ctx, 2*firstAsk, apiStepDown+l.stream, map[string]placement{"placement": {server}}, &response,
			)
			moves++
		}
		if wait.For(ctx, 30*time.Millisecond) != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	return errors.Join(fmt.Errorf("move log %s to server %s: others were elected", l.name, server), err)
}

// leadTries is how often the lead of a log is moved until the right server has it.
const leadTries = 4

package replica

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// A replica that needs a checkpoint asks another replica for one, reads its files piece by piece, and then ends it. A
// node that makes a snapshot of all shards also sends the last two kinds of requests, to the replicas of shards that it
// does not keep. The requests are:
//
//	begin     → the number of a new checkpoint, and its files
//	read      number, file, position → checksum and up to a MiB of it
//	sum       number, file → the hash of all of it
//	end       number
//	settle    → who owns the shard, by the log to its end
//	snapshot  → as begin, of all that is in the log, and in which epoch that ends
type checkpointRequest struct {
	Op   string `json:"op"`
	ID   uint64 `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	At   int64  `json:"at,omitempty"`
}

type checkpointOffer struct {
	ID       uint64             `json:"id"`
	Position sharedlog.Position `json:"position"`
	Files    []store.File       `json:"files"`
	Epoch    uint64             `json:"epoch,omitempty"` // of a snapshot
}

const (
	pieceSize = 1 << 20
	// unusedFor is how long an unread checkpoint is kept.
	unusedFor = 10 * time.Minute
)

func checkpointKind(shard string) string { return "checkpoint/" + shard }

// checkpointPrefix begins the names of the directories in which checkpoints are.
func (r *Replica) checkpointPrefix() string { return r.o.Dir + ".checkpoint-" }

// offers holds the checkpoints that other nodes are reading.
type offers struct {
	r    *Replica
	mu   sync.Mutex
	open map[uint64]*offer
}

type offer struct {
	checkpoint *store.Checkpoint
	expiry     *time.Timer
}

// Offer provides checkpoints of this replica's store to the nodes that call FetchFrom. Call it once.
func (r *Replica) Offer(m messenger.Messenger) {
	o := &offers{r: r, open: make(map[uint64]*offer)}
	m.Handle(checkpointKind(r.o.Name), o.handle)
}

func (o *offers) handle(ctx context.Context, payload []byte) ([]byte, error) {
	var req checkpointRequest
	if err := json.Unmarshal(payload, &req); err != nil {
		return nil, err
	}
	switch req.Op {
	case "begin":
		return marshal(o.begin(ctx))
	case "settle":
		return marshal(o.r.CurrentOwner(ctx))
	case "snapshot":
		return marshal(o.snapshot(ctx))
	}
	o.mu.Lock()
	offer := o.open[req.ID]
	if offer != nil {
		offer.expiry.Reset(unusedFor)
	}
	o.mu.Unlock()
	if offer == nil {
		return nil, &messenger.Failure{Code: codeGone, Text: "there is no such checkpoint any more"}
	}
	switch req.Op {
	case "read":
		data, err := offer.checkpoint.ReadAt(req.Name, req.At, pieceSize)
		return append(binary.BigEndian.AppendUint64(nil, xxhash.Sum64(data)), data...), err
	case "sum":
		sum, err := offer.checkpoint.Sum(req.Name)
		return binary.BigEndian.AppendUint64(nil, sum), err
	case "end":
		o.end(req.ID)
		return nil, nil
	}
	return nil, fmt.Errorf("a checkpoint has no %q", req.Op)
}

// codeGone reports that a checkpoint no longer exists. The other node must request a new one.
const codeGone = "gone"

func marshal(v any, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// snapshot is begin for all records that are in the log now.
func (o *offers) snapshot(ctx context.Context) (offered checkpointOffer, err error) {
	if err := o.r.CatchUp(ctx); err != nil {
		return offered, err
	}
	if offered, err = o.begin(ctx); err != nil {
		return offered, err
	}
	mark, err := o.r.markOf(o.dir(offered.ID))
	if err != nil {
		o.end(offered.ID)
	}
	offered.Epoch = mark.Epoch
	return offered, err
}

// dir is where a checkpoint is.
func (o *offers) dir(id uint64) string { return fmt.Sprintf("%s%d", o.r.checkpointPrefix(), id) }

func (o *offers) begin(ctx context.Context) (checkpointOffer, error) {
	id := rand.Uint64() // distinct from checkpoints given before a restart
	var files []store.File
	var position sharedlog.Position
	err := o.r.with(func(s *store.Store) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		position = sharedlog.Position(s.Mark().Position)
		c, err := s.Checkpoint(o.dir(id))
		if err != nil {
			return err
		}
		if files, err = c.Files(); err != nil {
			return errors.Join(err, c.Remove())
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.open[id] = &offer{c, time.AfterFunc(unusedFor, func() { o.end(id) })}
		return nil
	})
	return checkpointOffer{ID: id, Position: position, Files: files}, err
}

func (o *offers) end(id uint64) {
	o.mu.Lock()
	offer := o.open[id]
	delete(o.open, id)
	o.mu.Unlock()
	if offer == nil {
		return
	}
	offer.expiry.Stop()
	if err := offer.checkpoint.Remove(); err != nil {
		o.r.log.Warn("a checkpoint could not be removed", "error", err)
	}
}

// FetchFrom returns an Options.Fetch that fetches a checkpoint of a shard from one of the nodes that sources returns,
// in their order. If one fails permanently, it tries the next. If an answer does not come, it asks again and continues
// where it was.
func FetchFrom(
	m messenger.Messenger, shard string, sources func() []string,
) func(context.Context, *store.Incoming) error {
	return func(ctx context.Context, in *store.Incoming) error {
		var failed error
		for _, node := range sources() {
			d := download{messenger: m, node: node, kind: checkpointKind(shard), in: in}
			err := d.run(ctx)
			if err == nil {
				return nil
			}
			failed = errors.Join(failed, fmt.Errorf("checkpoint from %s: %w", node, err))
			if ctx.Err() != nil {
				break
			}
		}
		if failed == nil {
			failed = errors.New("no node has a checkpoint to give")
		}
		return failed
	}
}

// download fetches a checkpoint from one node.
type download struct {
	messenger messenger.Messenger
	node      string
	kind      string
	in        *store.Incoming
}

// The time to wait for an answer, and the number of attempts.
const (
	pieceTimeout  = 10 * time.Second
	beginTimeout  = 2 * time.Minute // the store is flushed first
	pieceAttempts = 5
	piecePause    = 200 * time.Millisecond
)

func (d *download) run(ctx context.Context) error {
	var offer checkpointOffer
	// If the answer was lost, the other node removes its checkpoint after a while.
	_, err := d.again(ctx, checkpointRequest{Op: "begin"}, beginTimeout, func(answer []byte) error {
		return json.Unmarshal(answer, &offer)
	})
	if err != nil {
		return err
	}
	defer d.end(ctx, &offer)
	return d.fetch(ctx, &offer)
}

// end notifies the other node that the checkpoint is no longer needed. If the message is lost, that node removes it
// after a while.
func (d *download) end(ctx context.Context, offer *checkpointOffer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pieceTimeout)
	defer cancel()
	_, _ = d.ask(ctx, checkpointRequest{Op: "end", ID: offer.ID}, pieceTimeout)
}

// fetch fetches the files of a checkpoint.
func (d *download) fetch(ctx context.Context, offer *checkpointOffer) error {
	// Files of another checkpoint that were fetched before may have the same names.
	if err := d.in.Reset(); err != nil {
		return err
	}
	for _, f := range offer.Files {
		if err := d.file(ctx, offer.ID, f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return d.in.Complete(offer.Files)
}

var errSum = errors.New("it did not come as it is there")

func (d *download) file(ctx context.Context, id uint64, f store.File) error {
	if err := d.in.WriteAt(f.Name, 0, nil); err != nil { // it may be empty
		return err
	}
	for at := int64(0); at < f.Size; {
		piece, err := d.again(ctx, checkpointRequest{Op: "read", ID: id, Name: f.Name, At: at}, pieceTimeout, func(answer []byte) error {
			if len(answer) <= 8 || xxhash.Sum64(answer[8:]) != binary.BigEndian.Uint64(answer) {
				return errSum
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := d.in.WriteAt(f.Name, at, piece[8:]); err != nil {
			return err
		}
		at += int64(len(piece) - 8)
	}
	answer, err := d.again(ctx, checkpointRequest{Op: "sum", ID: id, Name: f.Name}, pieceTimeout, func(answer []byte) error {
		if len(answer) != 8 {
			return errSum
		}
		return nil
	})
	if err != nil {
		return err
	}
	if sum, err := d.in.Sum(f.Name); err != nil {
		return err
	} else if sum != binary.BigEndian.Uint64(answer) {
		return errSum
	}
	return nil
}

// again repeats a request until it succeeds, a few times.
func (d *download) again(
	ctx context.Context, req checkpointRequest, timeout time.Duration, good func([]byte) error,
) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		answer, err := d.ask(ctx, req, timeout)
		if err == nil {
			err = good(answer)
		}
		if err == nil {
			return answer, nil
		}
		f, failed := errors.AsType[*messenger.Failure](err)
		if errors.Is(err, messenger.ErrNotTaken) || failed && f.Code == codeGone || attempt == pieceAttempts ||
			ctx.Err() != nil {
			return nil, err
		}
		if err := wait.For(ctx, piecePause); err != nil {
			return nil, err
		}
	}
}

func (d *download) ask(ctx context.Context, req checkpointRequest, timeout time.Duration) ([]byte, error) {
	payload, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return d.messenger.Request(ctx, d.node, d.kind, payload)
}

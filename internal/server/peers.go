package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/observe/consumers"
	"github.com/sluicemq/sluice/internal/observe/trail"
	"github.com/sluicemq/sluice/internal/observe/trails"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
)

// peers is the wing of the other nodes of a cluster: what they ask of this server, and what it sends them.
//
// A node joins its cluster before the server has the parts that answer. prepare brings the parts; until then, what can
// wait waits, and the rest is refused. Only the limits are there earlier, because heartbeats are.
type peers struct {
	log       *slog.Logger
	answering atomic.Bool                    // clients are answered: from Run until the server stops
	tenants   atomic.Pointer[tenant.Tenants] // nil until they are loaded

	prepared chan struct{} // closed when the fields below are set
	front    *front.Front
	answers  answerer
	keys     func() []string // ids of the encryption keys of this node
}

// answerer answers what servers of other nodes ask about this one.
type answerer interface {
	// receivers returns who receives from a queue through this server.
	receivers(id queue.ID) []consumers.Consumer
	// report says how this server stands.
	report(ctx context.Context) (report, error)
}

// errUnprepared refuses a question that has come before the server is prepared. The node that asks counts this one as
// silent.
var errUnprepared = errors.New("the server of this node is not prepared yet")

func newPeers(log *slog.Logger) *peers { return &peers{log: log, prepared: make(chan struct{})} }

// prepare has requests answered by f, and questions by a, and by keys, from now on.
func (p *peers) prepare(f *front.Front, a answerer, keys func() []string) {
	p.front, p.answers, p.keys = f, a, keys
	close(p.prepared)
}

// question is what a server asks those of the other nodes, as JSON.
type question struct {
	Consumers queue.ID `json:",omitzero"` // who receives from this queue
	Status    bool     `json:",omitzero"` // how the server stands. Older programs do not know the question
	Keys      bool     `json:",omitzero"` // the ids of its encryption keys. Older programs do not know the question
}

// answer implements NodeEnv.Answer. An error says that the question makes no sense, that only newer programs know it,
// or that the server is not prepared.
func (p *peers) answer(ctx context.Context, text []byte) ([]byte, error) {
	select {
	case <-p.prepared:
	default:
		return nil, errUnprepared
	}
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, fmt.Errorf("a question of another node: %w", err)
	}
	switch {
	case q.Consumers != 0:
		return json.Marshal(p.answers.receivers(q.Consumers))
	case q.Status:
		own, err := p.answers.report(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(own)
	case q.Keys:
		return json.Marshal(p.keys())
	}
	return nil, fmt.Errorf("a question of another node: %.100q is not known", text)
}

// serveForwarded implements NodeEnv.Forwarded. The node may own the control store before the server is prepared: then
// the request waits. An error says that the payload is none of ours, or of a newer program; nothing was done.
func (p *peers) serveForwarded(ctx context.Context, payload []byte) ([]byte, error) {
	select {
	case <-p.prepared:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return p.front.ServeForwarded(ctx, payload)
}

// tell implements NodeEnv.Tell. Nodes send heartbeats before the server knows the limits.
func (p *peers) tell() json.RawMessage { return p.tenants.Load().Tell() }

// hear implements NodeEnv.Hear. A node of another version may tell of what this one does not understand.
func (p *peers) hear(node string, told json.RawMessage) {
	if t := p.tenants.Load(); t != nil {
		if err := t.Hear(node, told); err != nil {
			p.log.Debug("what a node tells of the use of limits makes no sense", "error", err)
		}
	}
}

// sendUses brings to the owner of the control store when keys were used here.
func (p *peers) sendUses(ctx context.Context, uses directory.Uses) error {
	return p.front.SendUses(ctx, uses)
}

// sendEvents brings to the owner of the control store the events of calls that were answered here.
func (p *peers) sendEvents(ctx context.Context, events []trail.Entry) error {
	return p.front.SendEvents(ctx, events)
}

// sendFiles brings to the owner of the control store which files of trails were delivered here.
func (p *peers) sendFiles(ctx context.Context, files []trails.File) error {
	return p.front.SendFiles(ctx, files)
}

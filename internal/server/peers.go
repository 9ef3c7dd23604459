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
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/observe/consumers"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
)

// peers is the wing of the other nodes of a cluster: it answers their questions and sends them this server's.
//
// A node joins its cluster before the server has the parts that answer. prepare provides them. Until then, requests
// that can wait do so, and the others are refused. Only the limits are available earlier, because heartbeats need them.
type peers struct {
	log       *slog.Logger
	answering atomic.Bool                    // clients are answered: from Run until the server stops
	tenants   atomic.Pointer[tenant.Tenants] // nil until they are loaded

	prepared chan struct{} // closed when the fields below are set
	front    *front.Front
	answers  answerer
	keys     func() []string // ids of the encryption keys of this node
}

// answerer answers the questions of other nodes about this server.
type answerer interface {
	// receivers returns the consumers of a queue through this server.
	receivers(id queue.ID) []consumers.Consumer
	// report describes the state of this server.
	report(ctx context.Context) (report, error)
}

// errUnprepared refuses a question that arrives before the server is prepared. The asking node treats this server as
// silent.
var errUnprepared = errors.New("the server of this node is not prepared yet")

func newPeers(log *slog.Logger) *peers { return &peers{log: log, prepared: make(chan struct{})} }

// prepare sets the parts that answer from now on: f for requests, a and keys for questions.
func (p *peers) prepare(f *front.Front, a answerer, keys func() []string) {
	p.front, p.answers, p.keys = f, a, keys
	close(p.prepared)
}

// question is a query to the other servers, as JSON.
type question struct {
	Consumers queue.ID `json:",omitzero"` // requests the consumers of this queue
	Status    bool     `json:",omitzero"` // requests the server's report; older programs do not know it
	Keys      bool     `json:",omitzero"` // requests the ids of its encryption keys; older programs do not know it
}

// answer implements NodeEnv.Answer. It returns an error if the question is invalid, if only newer programs know it, or
// if the server is not prepared.
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

// serveForwarded implements NodeEnv.Forwarded. The node may own the control store before the server is prepared: the
// request then waits. An error means that the payload is invalid, or comes from a newer program; nothing was done.
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

// hear implements NodeEnv.Hear. Data of another version may be unknown here, and is ignored.
func (p *peers) hear(node string, told json.RawMessage) {
	if t := p.tenants.Load(); t != nil {
		if err := t.Hear(node, told); err != nil {
			p.log.Debug("a node's report of the use of limits is invalid", "error", err)
		}
	}
}

// sendUses sends the owner of the control store the times at which keys were used here.
func (p *peers) sendUses(ctx context.Context, uses directory.Uses) error {
	return p.front.SendUses(ctx, uses)
}

// sendEvents sends the owner of the control store the events of calls that were answered here.
func (p *peers) sendEvents(ctx context.Context, events []trail.Entry) error {
	return p.front.SendEvents(ctx, events)
}

// sendFiles sends the owner of the control store the names of trail files that were delivered here.
func (p *peers) sendFiles(ctx context.Context, files []trails.File) error {
	return p.front.SendFiles(ctx, files)
}

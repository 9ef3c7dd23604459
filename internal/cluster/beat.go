package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/replica"
)

const (
	beatInterval = time.Second
	lookInterval = 400 * time.Millisecond
	tailInterval = 2 * time.Second
)

// exchange is what two nodes tell each other: each its beat, and the one that
// answers what time it is there.
type exchange struct {
	Beat beat
	Time time.Time
}

// beat tells the other nodes of this one, and hears of them. It does not go by the
// leases, which are away for seconds when the node that leads them dies.
func (n *Node) beat() {
	again := time.NewTicker(beatInterval)
	defer again.Stop()
	known := make(map[string]bool)
	said := time.Duration(0) // of this machine's clock
	for {
		n.take(n.beatNow())
		n.tellAll()
		n.view.bury(time.Now())
		n.tellOfNodes(known)
		if skew := n.clocks.skew(); abs(skew-said) > tolerated {
			if said = skew; skew != 0 {
				n.log.Warn("this machine's clock differs from those of most nodes; the cluster goes by theirs", "ahead", skew.Round(time.Millisecond))
			}
		}
		select {
		case <-again.C:
		case <-n.ctx.Done():
			return
		}
	}
}

// tellOfNodes says which nodes have come or gone since it was called last; known are
// those that were there.
func (n *Node) tellOfNodes(known map[string]bool) {
	live := n.view.live()
	for name := range live {
		if !known[name] && name != n.o.Name {
			n.log.Info("node is there", "node", name)
		}
		known[name] = true
	}
	for name := range known {
		if _, ok := live[name]; !ok {
			n.log.Warn("node is not heard of any more", "node", name, "for", silence)
			delete(known, name)
		}
	}
}

// tellAll sends a heartbeat to all other nodes. A node that was removed ends when all have heard of it, because the owner
// of the control store must know of its server: the engine has to forget that once more.
func (n *Node) tellAll() {
	var all sync.WaitGroup
	var removed atomic.Bool
	others := n.others()
	for name := range others {
		all.Go(func() {
			err := n.tell(name)
			if f, ok := errors.AsType[*messenger.Failure](err); ok && f.Code == codeRemoved {
				removed.Store(true)
			} else if err != nil && n.ctx.Err() == nil {
				n.log.Debug("node is not there", "node", name, "error", err)
			}
		})
	}
	all.Wait()
	n.clocks.keep(others)
	if removed.Load() {
		n.fail(n.errRemoved())
	}
}

// others returns the other nodes: those that were named and those that the
// cluster knows.
func (n *Node) others() map[string]bool {
	others := make(map[string]bool)
	for _, p := range n.o.Peers {
		others[p.Name] = true
	}
	for name := range n.records.allNodes() {
		others[name] = true
	}
	delete(others, n.o.Name)
	return others
}

func (n *Node) tell(node string) error {
	ctx, cancel := context.WithTimeout(n.ctx, beatInterval)
	defer cancel()
	message, err := json.Marshal(exchange{Beat: n.beatNow()})
	if err != nil {
		return err
	}
	began := time.Now()
	answer, err := n.messages.Request(ctx, node, kindBeat, message)
	if err != nil {
		return err
	}
	took := time.Since(began)
	var got exchange
	if err := json.Unmarshal(answer, &got); err != nil || got.Beat.Node != node {
		return errors.Join(errors.New("its answer makes no sense"), err)
	}
	n.take(got.Beat)
	n.clocks.measured(node, took, got.Time)
	return nil
}

// hear answers another node's beat.
func (n *Node) hear(_ context.Context, message []byte) ([]byte, error) {
	var got exchange
	if err := json.Unmarshal(message, &got); err != nil {
		return nil, err
	}
	if got.Beat.Node == n.o.Name {
		return nil, fmt.Errorf("another process is the node %s", n.o.Name)
	}
	if err := n.refuseRemoved(incarnation{Node: got.Beat.Node, ID: got.Beat.Incarnation}); err != nil {
		return nil, err
	}
	n.take(got.Beat)
	return json.Marshal(exchange{Beat: n.beatNow(), Time: n.clocks.wall()})
}

// take takes in a beat.
func (n *Node) take(b beat) {
	news, rival := n.view.hear(b, time.Now())
	if rival {
		n.log.Warn("a node is there a second time, or was given an empty disk just now; the first counts until it is silent", "node", b.Node, "second", b.Incarnation)
	}
	if news {
		n.wake()
	}
}

// alone returns an error if another process answers to this node's name: on
// another machine that was given the same, or with a copy of its data.
func (n *Node) alone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, beatInterval)
	defer cancel()
	message, err := json.Marshal(exchange{Beat: beat{Node: n.o.Name, Incarnation: n.id.ID}})
	if err != nil {
		return err
	}
	_, err = n.messages.Request(ctx, n.o.Name, kindBeat, message)
	if f, answered := errors.AsType[*messenger.Failure](err); answered {
		return f
	}
	return nil
}

// beatNow is what there is to tell.
func (n *Node) beatNow() beat {
	b := beat{
		Node: n.o.Name, Incarnation: n.id.ID, Endpoint: n.o.Endpoint(), Version: n.o.Version, Low: n.o.Low(),
		Leaving: n.leaving.Load(), Certificate: n.certificateEnd(), Skew: n.clocks.skew().Round(time.Millisecond), Shards: make(map[string]replica.Status),
	}
	b.Shards[controlShard] = n.replica.Status()
	b.Bears = bears(b.Shards[controlShard])
	for _, l := range n.allLocals() {
		b.Shards[l.name] = l.replica.Status()
	}
	for name, s := range b.Shards {
		if c := n.copies.of(name); s.Role.Owns() && c.Wanted > 0 {
			if b.Copies == nil {
				b.Copies = make(map[string]logCopies)
			}
			b.Copies[name] = c
		}
	}
	return b
}

// look reads the leases every so often.
func (n *Node) look() {
	again := time.NewTicker(lookInterval)
	defer again.Stop()
	for {
		n.lookOnce()
		select {
		case <-again.C:
		case <-n.ctx.Done():
			return
		}
	}
}

// keepUp finds out every so often whether this node knows all that was decided.
func (n *Node) keepUp() {
	again := time.NewTicker(tailInterval)
	defer again.Stop()
	for {
		_ = n.CatchUp(n.ctx) // Current says so if it goes on failing
		select {
		case <-again.C:
		case <-n.ctx.Done():
			return
		}
	}
}

func (n *Node) lookOnce() {
	ctx, cancel := context.WithTimeout(n.ctx, n.ttl)
	defer cancel()
	leases, err := n.leases.List(ctx)
	if err != nil {
		n.log.Debug("leases cannot be read", "error", err)
		return
	}
	n.view.update(leases)
	// The logs say it too, as far as they have been read here.
	n.learnFrom(controlShard, n.replica)
	for _, l := range n.allLocals() {
		n.learnFrom(l.name, l.replica)
	}
}

func (n *Node) learnFrom(name string, r *replica.Replica) {
	if node, epoch, ok := r.Owner(); ok {
		n.view.learn(name, replica.Holder{Node: node, Epoch: epoch})
	}
}

const (
	// staleAfter is for how long a node answers from what it knows of queues and
	// users while it cannot find out whether that is still so.
	staleAfter = 15 * time.Second
	// aloneAfter is the same for one that does not hear of most of the others.
	aloneAfter = 4 * time.Second
)

// ErrCutOff says that a node has lost touch with the others.
var ErrCutOff = errors.New("this node has no connection to the others")

// Current returns ErrCutOff if what this node knows of queues and users may be
// out of date.
func (n *Node) Current() error {
	bound := staleAfter
	if live, all := len(n.view.live()), len(n.records.allNodes()); 2*live <= all {
		bound = aloneAfter
	}
	if time.Since(time.Unix(0, n.caughtUp.Load())) > bound {
		return ErrCutOff
	}
	return nil
}

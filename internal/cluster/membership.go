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
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/cluster/status"
)

// membership knows the nodes: it exchanges heartbeats with them, compares clocks, and knows the owner of each shard.
// For owners it does not rely on the leases alone, which are unavailable for seconds when the node that leads them
// dies.
type membership struct {
	*common
	view     *view
	clocks   *clocks
	returned returned // removed servers that came back
	turns    *turns
	self     func() heartbeat
	owners   func() map[string]replica.Holder // as this node's replicas know them from the logs
	// end of the control shard's log, if this node certainly owns it
	vouch   func() (end sharedlog.Position, ok bool)
	told    func(end sharedlog.Position, at time.Time) // another node vouched for that end, after a moment
	changed func()                                     // a node has come, or will leave
}

func newMembership(c *common) *membership {
	return &membership{
		common: c, view: newView(c.times.silence), clocks: newClocks(time.Now, c.o.Shift),
		turns: newTurns(c.o.Name, c.times.heartbeat),
	}
}

// heartbeatMsg is the message between two nodes. Each sends its heartbeat, and the node that answers adds its time.
type heartbeatMsg struct {
	Heartbeat heartbeat `json:"Beat"`
	Time      time.Time
	// Control is the end of the control shard's log, if the answering node can vouch for it. See barrier.
	Control *uint64 `json:",omitempty"`
}

// run sends heartbeats until the node closes.
func (m *membership) run() {
	again := time.NewTicker(m.times.heartbeat)
	defer again.Stop()
	quiet := time.NewTimer(m.times.silence) // a node may count as dead then
	defer quiet.Stop()
	known := make(map[string]bool)
	looked := time.Now()
	said := time.Duration(0) // difference of this machine's clock
	for {
		if late := time.Since(looked) - m.times.heartbeat; late > m.times.heartbeat {
			m.view.forgive(late)
		}
		looked = time.Now()
		m.record(m.self())
		m.tasks.start(m.sendDue)
		m.view.markDead(time.Now())
		if m.logNodes(known) {
			m.changed()
			m.tasks.start(m.sendHeartbeats) // the others learn of it at once
		}
		if skew := m.clocks.skew(); abs(skew-said) > tolerated {
			if said = skew; skew != 0 {
				m.log.Warn(
					"this machine's clock differs from those of most nodes; the cluster goes by theirs",
					"ahead",
					skew.Round(time.Millisecond),
				)
			}
		}
		if at, ok := m.view.nextSilence(); ok {
			quiet.Reset(time.Until(at))
		}
		select {
		case <-again.C:
		case <-quiet.C:
		case <-m.ctx.Done():
			return
		}
	}
}

// logNodes logs which nodes have come or gone since the last call. It reports whether any has gone. known holds the
// nodes of the last call.
func (m *membership) logNodes(known map[string]bool) (gone bool) {
	live := m.view.live()
	for name := range live {
		if !known[name] && name != m.o.Name {
			m.log.Info("node is there", "node", name)
		}
		known[name] = true
	}
	for name := range known {
		if _, ok := live[name]; !ok {
			m.log.Warn("node is not heard of any more", "node", name, "for", m.times.silence)
			delete(known, name)
			gone = true
		}
	}
	return gone
}

// sendHeartbeats sends one heartbeat to every other node. A removed node stops only after all have heard from it: the
// owner of the control store must learn that the server came back, because the engine has to forget it again.
func (m *membership) sendHeartbeats() {
	if m.sendTo(func(string) bool { return true }) {
		m.fail(m.errRemoved())
	}
}

// sendDue sends one heartbeat to each node whose turn it is.
func (m *membership) sendDue() {
	now := time.Now()
	if m.sendTo(func(node string) bool { return m.turns.isDue(node, now) }) {
		m.sendHeartbeats()
	}
}

// sendTo sends one heartbeat to each other node that meant selects. It reports whether any of them answers that this
// node was removed.
func (m *membership) sendTo(meant func(node string) bool) bool {
	var all sync.WaitGroup
	var removed atomic.Bool
	others := m.others()
	for name := range others {
		if !meant(name) {
			continue
		}
		all.Go(func() {
			sent := time.Now()
			err := m.sendHeartbeat(name)
			if f, ok := errors.AsType[*messenger.Failure](err); ok && f.Code == codeRemoved {
				removed.Store(true)
			} else if err != nil && m.ctx.Err() == nil {
				m.view.noAnswer(name, sent)
				m.log.Debug("node is absent", "node", name, "error", err)
			}
		})
	}
	all.Wait()
	m.clocks.retain(others)
	return removed.Load()
}

// others returns the other nodes: the configured ones and those that the cluster knows.
func (m *membership) others() map[string]bool {
	others := make(map[string]bool)
	for _, p := range m.o.Peers {
		others[p.Name] = true
	}
	for name := range m.records.allNodes() {
		others[name] = true
	}
	delete(others, m.o.Name)
	return others
}

func (m *membership) sendHeartbeat(node string) error {
	ctx, cancel := context.WithTimeout(m.ctx, m.times.silence)
	defer cancel()
	message, err := json.Marshal(heartbeatMsg{Heartbeat: m.self()})
	if err != nil {
		return err
	}
	began := time.Now()
	answer, err := m.messages.Request(ctx, node, kindHeartbeat, message)
	if err != nil {
		return err
	}
	took := time.Since(began)
	var got heartbeatMsg
	if err := json.Unmarshal(answer, &got); err != nil || got.Heartbeat.Node != node {
		return errors.Join(errors.New("its answer makes no sense"), err)
	}
	m.record(got.Heartbeat)
	m.clocks.measured(node, took, got.Time)
	if got.Control != nil {
		m.told(sharedlog.Position(*got.Control), began)
	}
	return nil
}

// onHeartbeat answers another node's heartbeat.
func (m *membership) onHeartbeat(_ context.Context, message []byte) ([]byte, error) {
	var got heartbeatMsg
	if err := json.Unmarshal(message, &got); err != nil {
		return nil, err
	}
	if got.Heartbeat.Node == m.o.Name {
		return nil, fmt.Errorf("another process is the node %s", m.o.Name)
	}
	if err := m.refuseRemoved(incarnation{Node: got.Heartbeat.Node, ID: got.Heartbeat.Incarnation}); err != nil {
		return nil, err
	}
	m.record(got.Heartbeat)
	m.turns.answer(got.Heartbeat.Node, time.Now())
	answer := heartbeatMsg{Heartbeat: m.self(), Time: m.clocks.wall()}
	if end, ok := m.vouch(); ok {
		answer.Control = (*uint64)(&end)
	}
	return json.Marshal(answer)
}

// record records a heartbeat of another node.
func (m *membership) record(h heartbeat) {
	news, duplicate := m.view.record(h, time.Now())
	if duplicate {
		m.log.Warn(
			"a node is running twice, or has just got an empty disk; the first one counts until it is silent",
			"node",
			h.Node,
			"second",
			h.Incarnation,
		)
	}
	if news {
		m.changed()
	}
	if h.Node != m.o.Name && !m.view.isDuplicate(h) {
		m.o.Hear(h.Node, h.Told)
		m.hearFormat(h)
	}
}

// checkOnly returns an error if another process answers to this node's name: another machine with the same name, or
// with a copy of the data.
func (m *membership) checkOnly(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	message, err := json.Marshal(heartbeatMsg{Heartbeat: heartbeat{Node: m.o.Name, Incarnation: m.id.ID}})
	if err != nil {
		return err
	}
	_, err = m.messages.Request(ctx, m.o.Name, kindHeartbeat, message)
	if f, answered := errors.AsType[*messenger.Failure](err); answered {
		return f
	}
	return nil
}

// watchOwners periodically reads the leases and asks the logs.
func (m *membership) watchOwners() {
	again := time.NewTicker(ownersInterval)
	defer again.Stop()
	for {
		m.readOwners()
		select {
		case <-again.C:
		case <-m.ctx.Done():
			return
		}
	}
}

func (m *membership) readOwners() {
	ctx, cancel := context.WithTimeout(m.ctx, ownersTimeout)
	defer cancel()
	leases, err := m.leases.List(ctx)
	if err != nil {
		m.log.Debug("leases cannot be read", "error", err)
		return
	}
	m.view.update(leases)
	// The logs also record owners, as far as this node has read them.
	for shard, holder := range m.owners() {
		m.view.learn(shard, holder)
	}
}

// onOwner records the new owner of a shard.
func (m *membership) onOwner(_ context.Context, message []byte) ([]byte, error) {
	var a announcement
	if err := json.Unmarshal(message, &a); err != nil {
		return nil, err
	}
	m.view.learn(a.Shard, a.Holder)
	return nil, nil
}

// announce tells all nodes that this node owns a shard. A node that misses the message finds the owner among the
// leases.
func (m *membership) announce(shard string, epoch uint64) {
	m.log.Info("shard is served here", "shard", shard, "epoch", epoch)
	h := replica.Holder{Node: m.o.Name, Epoch: epoch}
	m.view.learn(shard, h)
	message, err := json.Marshal(announcement{shard, h})
	if err != nil {
		panic(err) // strings and a number
	}
	for node := range m.others() {
		m.tasks.start(func() {
			ctx, cancel := context.WithTimeout(m.ctx, time.Second)
			defer cancel()
			_, _ = m.messages.Request(ctx, node, kindOwner, message)
		})
	}
}

// anyLeaving reports whether a node is about to stop. Such a node moves its own leads, and two nodes that move leads at
// the same time can leave a log without a leader.
func (m *membership) anyLeaving() bool {
	for _, h := range m.view.live() {
		if h.Leaving {
			return true
		}
	}
	return false
}

// isAble reports whether a node has reported that it could own a shard.
func (m *membership) isAble(name, node string) bool {
	said, alive := m.view.live()[node]
	record, _ := m.records.node(node)
	return alive && !said.Leaving && !record.Draining && said.Shards[name].Error == ""
}

// isReady reports whether a node's replica could own a shard at once.
func (m *membership) isReady(shard, node string) bool {
	live := m.view.live()
	s, ok := live[node].Shards[shard]
	if !ok || !usable(s) {
		return false
	}
	newest := sharedlog.Position(0)
	for _, other := range live {
		newest = max(newest, other.Shards[shard].Applied)
	}
	if s.Applied == 0 {
		// The log is empty. If the founder brings in a shard's data, no other node has any of it.
		founder, hasOldData := m.records.founder(shard)
		return newest == 0 && (!hasOldData || node == founder)
	}
	return s.Applied+status.Near >= newest
}

// low reports whether the disk of any node is nearly full, of this one without delay.
func (m *membership) low() bool {
	if m.o.Low() {
		return true
	}
	for _, b := range m.view.live() {
		if b.Low {
			return true
		}
	}
	return false
}

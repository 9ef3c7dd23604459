package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
)

// Kinds of messages between nodes about their forward barriers.
const (
	kindHold    = "hold"
	kindRelease = "release"
)

// handle answers other nodes.
func (s *snapshots) handle() {
	s.messages.Handle(kindHold, func(ctx context.Context, message []byte) ([]byte, error) {
		id, err := holdID(message)
		if err == nil {
			err = s.forwards.hold(ctx, id, holdLimit)
		}
		return nil, err
	})
	s.messages.Handle(kindRelease, func(_ context.Context, message []byte) ([]byte, error) {
		id, err := holdID(message)
		if err == nil && !s.forwards.release(id) {
			err = errNotHeld
		}
		return nil, err
	})
}

func holdID(message []byte) (id uint64, err error) { return id, json.Unmarshal(message, &id) }

var errNotHeld = errors.New("messages between shards were not held back all the time")

// holdAll shuts the barriers of all live nodes. Nodes that do not answer are not in held. release opens the barriers
// again; it returns an error unless all of them stayed shut until then. Always call release.
func (s *snapshots) holdAll(ctx context.Context) (held map[string]bool, release func() error) {
	ctx, cancel := context.WithTimeout(ctx, holdTimeout)
	defer cancel()
	id, err := json.Marshal(rand.Uint64())
	if err != nil {
		panic(err) // a number
	}
	held = make(map[string]bool)
	var mu sync.Mutex
	var all sync.WaitGroup
	live := s.members.view.live()
	for node := range live {
		all.Go(func() {
			_, err := s.messages.Request(ctx, node, kindHold, id)
			if err != nil {
				s.log.Debug("node does not hold messages back", "node", node, "error", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			held[node] = true
		})
	}
	all.Wait()
	return held, func() error { return s.releaseAll(id, live, held) }
}

// releaseAll opens the barriers of all nodes that got the request. Only the nodes that held their barrier must answer.
func (s *snapshots) releaseAll(id []byte, asked map[string]heartbeat, held map[string]bool) (failed error) {
	ctx, cancel := context.WithTimeout(s.ctx, holdTimeout)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for node := range asked {
		all.Go(func() {
			_, err := s.messages.Request(ctx, node, kindRelease, id)
			if err != nil && held[node] {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, fmt.Errorf("node %s: %w", node, err))
			}
		})
	}
	all.Wait()
	return failed
}

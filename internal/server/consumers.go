package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/observe/consumers"
	"github.com/sluicemq/sluice/internal/queue"
)

// question is what a server asks those of the other nodes, as JSON.
type question struct {
	Consumers queue.ID `json:",omitzero"` // who receives from this queue
	Status    bool     `json:",omitzero"` // how the server stands. Older programs do not know the question
}

// answer answers a question of another node's server. An error says that it makes no sense, or that only newer programs know it.
func (s *Server) answer(ctx context.Context, text []byte) ([]byte, error) {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, fmt.Errorf("a question of another node: %w", err)
	}
	switch {
	case q.Consumers != 0:
		return json.Marshal(s.consumers.Queue(uint64(q.Consumers), s.config.Now()))
	case q.Status:
		own, err := s.report(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(own)
	}
	return nil, fmt.Errorf("a question of another node: %.100q is not known", text)
}

// consumersOf returns who receives from a queue, through whichever node, and the nodes that do not say what they know.
func (s *Server) consumersOf(ctx context.Context, id queue.ID) (list []consumers.Consumer, silent []string, _ error) {
	text, err := json.Marshal(question{Consumers: id})
	if err != nil {
		return nil, nil, err
	}
	answers, silent := s.node.Ask(ctx, text)
	lists := [][]consumers.Consumer{s.consumers.Queue(uint64(id), s.config.Now())}
	for _, answer := range answers {
		var list []consumers.Consumer
		if err := json.Unmarshal(answer, &list); err != nil {
			return nil, nil, fmt.Errorf("the answer of another node: %w", err)
		}
		lists = append(lists, list)
	}
	return consumers.Merge(lists...), silent, nil
}

// forgetConsumers forgets those of a queue that was deleted.
func (s *Server) forgetConsumers(was, is *catalog.Queue) {
	if is == nil {
		s.consumers.Drop(uint64(was.ID))
	}
}

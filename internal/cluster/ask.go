package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// kindAsk requests the state of a node, which only that node knows. Nodes of older programs do not answer it.
	kindAsk    = "ask"
	askTimeout = 2 * time.Second
)

// Ask sends a question to all other live nodes. It returns their answers, and the names of the nodes that did not
// answer within a short time.
func (n *Node) Ask(ctx context.Context, question []byte) (answers [][]byte, silent []string) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, node := range slices.Sorted(maps.Keys(n.members.view.live())) {
		if node == n.o.Name {
			continue
		}
		all.Go(func() {
			answer, err := n.messages.Request(ctx, node, kindAsk, question)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				silent = append(silent, node)
			} else {
				answers = append(answers, answer)
			}
		})
	}
	all.Wait()
	slices.Sort(silent)
	return answers, silent
}

func (n *Node) onAsk(ctx context.Context, question []byte) ([]byte, error) {
	if n.o.Answer == nil {
		return nil, fmt.Errorf("node %s answers no questions", n.o.Name)
	}
	return n.o.Answer(ctx, question)
}

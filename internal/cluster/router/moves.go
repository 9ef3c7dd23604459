package router

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/queue"
)

// A message move task of a queue with several shards has a part on each shard that
// holds messages. The parts are tasks of their shards, with different ids,
// because the ids of moved messages are derived from them.

const (
	partMark  = "#" // not in a task's own id
	movesKept = 10  // as many as a shard keeps
)

func partID(task string, n int) string { return task + partMark + strconv.Itoa(n) }

func taskOf(part string) string {
	task, _, _ := strings.Cut(part, partMark)
	return task
}

// StartMove starts a message move task. The rate is divided among the shards that
// hold messages; each of them moves at least one a second.
func (r *Router) StartMove(ctx context.Context, id queue.ID, t queue.MoveTask) error {
	p, err := r.place(id)
	if err != nil {
		return err
	}
	if len(p.Shards) == 1 {
		return r.startOn(ctx, p.Shards[0], id, t)
	}
	tasks, err := r.Moves(ctx, id)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(tasks, func(t queue.MoveTask) bool { return t.Status == queue.MoveRunning }) {
		return queue.ErrTaskRunning
	}
	// A shard on which an undo is in progress would refuse its part when others have moved messages.
	if kept, err := r.Kept(ctx, id); err != nil || kept.Undoing {
		return cmp.Or(err, error(queue.ErrTaskRunning))
	}
	shards, err := r.holding(ctx, &p, id)
	if err != nil {
		return err
	}
	// In ascending order: of two tasks that are started at the same time, the
	// first shard refuses one.
	for i, n := range shards {
		part := t
		part.ID = partID(t.ID, n)
		if t.Rate > 0 {
			part.Rate = max(1, (t.Rate+i)/len(shards))
		}
		if err := r.startOn(ctx, n, id, part); err != nil {
			for _, n := range shards[:i] {
				_, _ = r.cancelOn(context.WithoutCancel(ctx), n, id, partID(t.ID, n))
			}
			return err
		}
	}
	return nil
}

// holding returns the shards, in ascending order, on which a queue has visible
// messages, or its first shard if there are none.
func (r *Router) holding(ctx context.Context, p *Placement, id queue.ID) ([]int, error) {
	counts, err := gather(p.Shards, func(n int) (queue.Counts, error) { return r.countsOf(ctx, n, id) })
	if err != nil {
		return nil, err
	}
	var out []int
	for i, n := range p.Shards {
		if counts[i].Visible > 0 {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return p.Shards[:1], nil
	}
	slices.Sort(out)
	return out, nil
}

func (r *Router) startOn(ctx context.Context, n int, id queue.ID, t queue.MoveTask) error {
	return r.exec(ctx, n, func(ctx context.Context, s Shard) error { return s.StartMove(ctx, id, t) })
}

func (r *Router) cancelOn(ctx context.Context, n int, id queue.ID, part string) (queue.MoveTask, error) {
	return call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.MoveTask, error) {
		return s.CancelMove(ctx, id, part)
	})
}

// CancelMove ends a message move task. It fails if a shard that may have a part of the task is not available; the other
// shards have then ended their parts.
func (r *Router) CancelMove(ctx context.Context, id queue.ID, task string) (queue.MoveTask, error) {
	p, err := r.place(id)
	if err != nil {
		return queue.MoveTask{}, err
	}
	if len(p.Shards) == 1 {
		n := p.Shards[0]
		t, err := r.cancelOn(ctx, n, id, task)
		if errors.Is(err, queue.ErrNoTask) { // a part, if the queue once had more shards
			t, err = r.cancelOn(ctx, n, id, partID(task, n))
		}
		t.ID = taskOf(t.ID)
		return t, err
	}
	ended, err := gather(p.Shards, func(n int) (bool, error) {
		_, err := r.cancelOn(ctx, n, id, partID(task, n))
		if errors.Is(err, queue.ErrNoTask) { // the whole task, if this was the only shard then
			_, err = r.cancelOn(ctx, n, id, task)
		}
		if errors.Is(err, queue.ErrNoTask) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return queue.MoveTask{}, err
	}
	if !slices.Contains(ended, true) {
		return queue.MoveTask{}, queue.ErrNoTask
	}
	tasks, err := r.Moves(ctx, id)
	if err != nil {
		return queue.MoveTask{}, err
	}
	for _, t := range tasks {
		if t.ID == task {
			return t, nil
		}
	}
	return queue.MoveTask{}, queue.ErrNoTask
}

// Moves returns a queue's message move tasks, the most recent first.
func (r *Router) Moves(ctx context.Context, id queue.ID) ([]queue.MoveTask, error) {
	p, err := r.place(id)
	if err != nil {
		return nil, err
	}
	lists, err := gather(p.Shards, func(n int) ([]queue.MoveTask, error) {
		return call(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]queue.MoveTask, error) {
			return s.Moves(ctx, id)
		})
	})
	if err != nil {
		return nil, err
	}
	return merge(slices.Concat(lists...)), nil
}

// merge combines the parts of tasks.
func merge(parts []queue.MoveTask) []queue.MoveTask {
	var out []queue.MoveTask
	index := make(map[string]int)
	for _, part := range parts {
		part.ID = taskOf(part.ID)
		i, known := index[part.ID]
		if !known {
			index[part.ID] = len(out)
			out = append(out, part)
			continue
		}
		t := &out[i]
		t.Rate += part.Rate
		t.Moved += part.Moved
		t.ToMove += part.ToMove
		t.Started = min(t.Started, part.Started)
		t.Failure = cmp.Or(t.Failure, part.Failure)
		t.Scanned += part.Scanned
		t.Skipped += part.Skipped
		t.Results = slices.Concat(t.Results, part.Results)
		t.Ended = max(t.Ended, part.Ended)
		if weightOf(part.Status) > weightOf(t.Status) {
			t.Status = part.Status
		}
	}
	for i := range out {
		if out[i].Status == queue.MoveRunning {
			out[i].Ended = 0
		}
	}
	slices.SortStableFunc(out, func(a, b queue.MoveTask) int { return cmp.Compare(b.Started, a.Started) })
	return out[:min(len(out), movesKept)]
}

// weightOf ranks the status of a part: a task has the highest-ranking status of its parts.
func weightOf(s queue.MoveStatus) int {
	return slices.Index(
		[]queue.MoveStatus{queue.MoveCompleted, queue.MoveFailed, queue.MoveCancelled, queue.MoveRunning}, s,
	)
}

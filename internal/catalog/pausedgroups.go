package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
)

// MaxPausedGroups limits how many message groups of a queue can be paused at once. Each change of the queue reads all
// of them.
const MaxPausedGroups = 100

// ErrTooManyPaused means that a pause would exceed MaxPausedGroups.
var ErrTooManyPaused = errors.New("too many paused message groups")

// PauseGroups pauses message groups of a FIFO queue, whether they have messages or not, and returns its new record.
// Groups that are paused stay so.
func (c *Catalog) PauseGroups(ctx context.Context, of *Queue, names []string) (*Queue, error) {
	return c.changePauses(ctx, of, func(q *Queue) error {
		if err := c.records.MayNeed(formats.PausedGroups); err != nil {
			return err
		}
		all := append(q.PausedGroups, names...)
		slices.Sort(all)
		q.PausedGroups = slices.Compact(all)
		if len(q.PausedGroups) > MaxPausedGroups {
			return ErrTooManyPaused
		}
		return nil
	})
}

// ResumeGroups resumes message groups, and returns the new record. Groups that are not paused stay so.
func (c *Catalog) ResumeGroups(ctx context.Context, of *Queue, names []string) (*Queue, error) {
	return c.changePauses(ctx, of, func(q *Queue) error {
		q.PausedGroups = slices.DeleteFunc(q.PausedGroups, func(name string) bool {
			return slices.Contains(names, name)
		})
		if len(q.PausedGroups) == 0 {
			q.PausedGroups = nil
		}
		return nil
	})
}

func (c *Catalog) changePauses(ctx context.Context, of *Queue, change func(*Queue) error) (*Queue, error) {
	return control.Decide(ctx, c.Change, func(tx *Tx) (*Queue, error) { return tx.Update(of.Name, of.ID, change) })
}

// needs returns the format of queues with paused groups, which not all programs know that know queues.
func needs(r *records) []int {
	if r.pausing == 0 {
		return nil
	}
	return []int{formats.PausedGroups}
}

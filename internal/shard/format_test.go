package shard_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// Before a shard writes data that older programs cannot read, it raises the format of the data directory.
func TestFormatIsRequiredBeforeItIsNeeded(t *testing.T) {
	st := storetest.Memory(t)
	var required []int
	full := errors.New("it is full")
	open := func() *shard.Shard {
		required = nil
		s, err := shard.Open(shard.Options{
			Store:   st,
			Configs: func() []queue.Config { return []queue.Config{{ID: jobs, ARN: "jobs", Retention: time.Hour}} },
			Require: func(format int) error { required = append(required, format); return full },
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	if err := s.StartMove(t.Context(), jobs, queue.MoveTask{
		ID: "old", Destination: "x",
	}); err != nil || required != nil {
		t.Errorf("a task in the first format: %v, required %v", err, required)
	}
	back := queue.MoveTask{ID: "new", Sources: []queue.ID{7}}
	if err := s.StartMove(t.Context(), jobs, back); !errors.Is(err, full) {
		t.Errorf("it is written without the format: %v", err)
	}
	var tasks []queue.MoveTask
	eventually.Succeeds(t, func() (err error) { // until the shard is back
		tasks, err = s.Moves(t.Context(), jobs)
		return err
	})
	if len(tasks) != 1 || tasks[0].ID != "old" {
		t.Errorf("there are %+v", tasks)
	}
	full = nil
	if err := s.StartMove(t.Context(), jobs, back); err != nil {
		t.Error(err)
	}
	s.Close()
	s = open() // for example by a program that opens a copy
	defer s.Close()
	if err := s.Purge(t.Context(), jobs); err != nil || len(required) != 1 || required[0] != 2 {
		t.Errorf("%v, required %v", err, required)
	}
}

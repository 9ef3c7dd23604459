package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// AutoMinFree stands for a threshold that suits the disk: 512 MiB, or a tenth of a smaller disk.
const AutoMinFree = -1

const (
	autoMinFree     = 512 << 20
	autoMinFreePart = 10
	lookInterval    = time.Second
	reclaimInterval = 5 * time.Second

	// A disk can fill by hundreds of megabytes within lookInterval. Close to the threshold, closeInterval keeps the
	// data written between two checks small compared with the reserve.
	closeInterval = 50 * time.Millisecond
	closeSpace    = 2 << 30 // bytes above the threshold
)

// space watches the free space of the disk. Below a threshold, the server accepts nothing that adds data. The reserve
// is needed to delete data: deletes are written, too, and so are the tables that replace those with deleted data.
type space struct {
	free func() (free, total uint64, err error)
	mark int64 // bytes, or AutoMinFree; 0 means no threshold
	log  *slog.Logger
	// reclaim starts to free the space of deleted data. It may take long.
	reclaim func() error

	low        atomic.Bool
	reclaiming atomic.Bool
	reclaims   sync.WaitGroup
}

// errLowSpace is the client's error.
var errLowSpace = errors.New(
	"The disk of the server is nearly full: messages can be received and deleted, but none can be added. Please try again later.",
)

// room returns errLowSpace if there is too little free space to accept data.
func (s *space) room() error {
	if s.low.Load() {
		return errLowSpace
	}
	return nil
}

// Run checks the space until ctx ends. It returns when no reclaim is in progress.
func (s *space) Run(ctx context.Context) {
	if s.mark == 0 {
		return
	}
	defer s.reclaims.Wait()
	look := time.NewTimer(s.look())
	defer look.Stop()
	reclaim := time.NewTicker(reclaimInterval)
	defer reclaim.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			look.Reset(s.look())
		case <-reclaim.C:
			s.makeRoom()
		}
	}
}

// look compares the free space with the threshold and returns the time until the next look. To leave the low state, it
// must exceed the threshold by an eighth. Otherwise each deleted message would admit one new message.
func (s *space) look() time.Duration {
	if s.mark == 0 {
		return lookInterval
	}
	free, total, err := s.free()
	if err != nil {
		s.log.Debug("free space is not known", "error", err)
		return lookInterval
	}
	mark := uint64(s.mark)
	if s.mark < 0 {
		mark = min(autoMinFree, total/autoMinFreePart)
	}
	switch low := s.low.Load(); {
	case !low && free < mark:
		s.low.Store(true)
		s.log.Warn("the disk is nearly full; nothing is added until there is more free space",
			"free_bytes", free, "min_free_bytes", mark, "disk_bytes", total)
	case low && free >= mark+mark/8:
		s.low.Store(false)
		s.log.Info("the disk has free space again", "free_bytes", free, "min_free_bytes", mark, "disk_bytes", total)
	}
	if free < mark+closeSpace {
		return closeInterval
	}
	return lookInterval
}

// makeRoom starts freeing space if it is low, without waiting for the end.
func (s *space) makeRoom() {
	if !s.low.Load() || !s.reclaiming.CompareAndSwap(false, true) {
		return
	}
	s.reclaims.Go(func() {
		defer s.reclaiming.Store(false)
		if err := s.reclaim(); err != nil {
			s.log.Warn("space is not given back", "error", err)
		}
	})
}

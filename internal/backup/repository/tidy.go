package repository

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sweepEvery is how often objects are looked for that no moment names: it takes a list of all objects, and all moments.
const sweepEvery = time.Hour

// Tidy removes expired moments, and once an hour the objects that no moment names. It is called after Write has
// succeeded. It removes moments first: after an interruption, each remaining moment is complete, and the rest is
// removed later.
func (w *Writer) Tidy(ctx context.Context, now time.Time) error {
	if !w.ready {
		return nil
	}
	for _, number := range expired(w.moments, now, w.Keep) {
		if err := w.remove(ctx, momentKey(number)); err != nil {
			return fmt.Errorf("remove moment %d: %w", number, err)
		}
		w.forget(number)
	}
	if since := now.Sub(w.swept); since >= 0 && since < sweepEvery {
		return nil
	}
	if err := w.sweep(ctx); err != nil {
		return fmt.Errorf("remove what no moment names: %w", err)
	}
	w.swept = now
	return nil
}

// sweep removes the objects that no moment names. If a moment cannot be read, or a known one is not listed, the objects
// that it names are unknown, and sweep removes nothing.
func (w *Writer) sweep(ctx context.Context) error {
	w.ready = false // until the contents are known
	named, read := make(map[string]bool), make(map[int64]bool)
	err := w.repository.Moments(ctx, func(m *Moment) {
		read[m.Number] = true
		for _, f := range m.Files {
			named[f.SHA256] = true
		}
	})
	if err != nil {
		return err
	}
	for _, k := range w.moments {
		if !read[k.number] {
			return fmt.Errorf("%w: %d, which this server has not removed", ErrNoMoment, k.number)
		}
	}
	if w.stored, err = w.objects(ctx); err != nil {
		return err
	}
	for digest := range w.stored {
		if named[digest] {
			continue
		}
		err = errors.Join(err, ctx.Err())
		if err == nil {
			err = w.remove(ctx, objectKey(digest))
		}
		if err != nil {
			return err
		}
		delete(w.stored, digest)
	}
	w.ready = true
	return nil
}

func (w *Writer) remove(ctx context.Context, key string) error {
	ctx, cancel := within(ctx, 0)
	defer cancel()
	return w.Place.Delete(ctx, key)
}

package repository

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// sweepEvery is the interval of searches for objects that no moment names: a search reads a list of all objects,
	// and all moments.
	sweepEvery = time.Hour
	// removalLimit is how long after a moment its writer removes objects.
	removalLimit = 5 * time.Minute
	// maxRemovals limits the objects that one moment removes, whose names are in it; the next sweep removes the rest.
	// Most object stores remove fewer in removalLimit.
	maxRemovals = 50_000
	// removedAtOnce is the maximum number of objects that are removed before the time is checked again. Most object
	// stores remove this many by one request, and others one by one within seconds.
	removedAtOnce = 100
	// doomedFor is how long a new writer assumes that others remove objects. They have less time for it.
	doomedFor = 2 * removalLimit
)

// removal is objects that no moment names.
type removal struct {
	names  []string // of those that are not removed yet
	until  time.Time
	failed error // why there are none
}

// isNone reports whether there is nothing to remove or to report.
func (r *removal) isNone() bool { return len(r.names) == 0 && r.failed == nil }

// spare keeps an object that a new moment names.
func (r *removal) spare(name string) {
	if i, ok := slices.BinarySearch(r.names, name); ok {
		r.names = slices.Delete(slices.Clone(r.names), i, i+1) // the last moment has the list as well
	}
}

// doomed is objects that another writer may be removing, by their names.
type doomed map[string]doom

// doom is the last moment that lists an object, and until when the moment's writer may be removing it.
type doom struct {
	moment int64
	until  time.Time
}

// renew takes the listed objects, with the last moments that list them, out of what is stored. Those that are not in it
// are removed already. A list that was known before gives its writer no more time: otherwise each failure of this
// writer would make the next one.
func (d doomed) renew(listed, stored map[string]int64) doomed {
	out := make(doomed)
	for name, moment := range listed {
		if _, there := stored[name]; !there {
			continue
		}
		one, known := d[name]
		if !known || one.moment != moment {
			one = doom{moment, time.Now().Add(doomedFor)}
		}
		out[name] = one
		delete(stored, name)
	}
	return out
}

var errDoomed = errors.New("another server may be removing the same object; the next backup may succeed")

// check returns an error if an object cannot be relied on, whether it is stored or is stored again.
func (d doomed) check(name string) error {
	if one, ok := d[name]; ok && time.Now().Before(one.until) {
		return fmt.Errorf("%w: %s", errDoomed, name)
	}
	return nil
}

// sweeps reports whether a moment is the first for an hour, with which the objects are listed.
func (w *Writer) sweeps(m *Moment) bool {
	since := m.Created.Sub(w.swept)
	return since < 0 || since >= sweepEvery
}

// sweep lists the objects once an hour, mends a moment, and condemns what no moment names.
func (w *Writer) sweep(ctx context.Context, dir string, m *Moment) (removal, error) {
	if !w.sweeps(m) {
		return removal{}, nil
	}
	objects, err := w.objects(ctx)
	if err != nil {
		return removal{}, err
	}
	mended, err := w.mend(ctx, dir, m, objects)
	if err == nil && mended {
		objects, err = w.objects(ctx)
	}
	if err != nil {
		return removal{}, err
	}
	return w.condemn(ctx, m, objects), nil
}

// mend stores again the objects of a moment that have disappeared or were cut short. Otherwise each later moment would
// rely on them. It reports whether there were any.
func (w *Writer) mend(ctx context.Context, dir string, m *Moment, objects map[string]int64) (bool, error) {
	again := 0
	for _, f := range m.Files {
		if _, known := w.stored[f.object()]; known && !f.isIn(objects) {
			w.forgetObject(f.object())
			again++
		}
	}
	if again == 0 {
		return false, nil
	}
	w.Missing(again, 0)
	m.Files = nil
	return true, w.storeAll(ctx, dir, m)
}

// forgetObject records that an object is not stored.
func (w *Writer) forgetObject(name string) {
	delete(w.stored, name)
	if digest, _, ok := parsePacked(name); ok {
		delete(w.packed, digest)
	}
}

// condemn adds to a moment the objects that no moment names, or as many of them as it may have, and returns these. If
// it fails, Tidy reports that: a moment is worth more than space.
func (w *Writer) condemn(ctx context.Context, m *Moment, objects map[string]int64) removal {
	until := time.Now().Add(removalLimit)
	names, err := w.unnamed(ctx, m, objects)
	if err != nil {
		return removal{failed: fmt.Errorf("find objects that no moment names: %w", err)}
	}
	w.swept = m.Created
	names = names[:min(len(names), maxRemovals)]
	m.remove(names)
	return removal{names: names, until: until}
}

// unnamed returns those of the objects that no moment names, the new one included. If a moment cannot be read, or a
// known one is not listed, the objects that it names are unknown.
func (w *Writer) unnamed(ctx context.Context, m *Moment, objects map[string]int64) (names []string, err error) {
	named, read := make(map[string]File), make(map[int64]bool)
	name := func(m *Moment) {
		read[m.Number] = true
		for _, f := range m.Files {
			named[f.object()] = f
		}
	}
	name(m)
	if err := w.repository.Moments(ctx, name); err != nil {
		return nil, err
	}
	for _, k := range w.moments {
		if !read[k.number] {
			return nil, fmt.Errorf("%w: %d, which this server has not removed", ErrNoMoment, k.number)
		}
	}
	for object := range objects {
		if _, ok := named[object]; !ok {
			names = append(names, object)
		}
	}
	w.count(named, objects)
	slices.Sort(names)
	return names, nil
}

// count reports how many of the objects that moments name are not there.
func (w *Writer) count(named map[string]File, objects map[string]int64) {
	lost := 0
	for _, f := range named {
		if !f.isIn(objects) {
			lost++
		}
	}
	if lost > 0 {
		w.Missing(0, lost)
	}
}

// Tidy removes expired moments, and objects that the last moments list for removal: at least some, and more until a
// time, because the next moment is worth more than space. It is called after Write has succeeded; the next call
// continues. After an interruption, each remaining moment is complete, and the rest is removed later.
func (w *Writer) Tidy(ctx context.Context, now, until time.Time) error {
	if !w.ready {
		return nil
	}
	for some := range slices.Chunk(expired(w.moments, now, w.Keep), removedAtOnce) {
		if err := remove(ctx, w, momentKey, some); err != nil {
			return fmt.Errorf("remove expired moments, of which %d is the first: %w", some[0], err)
		}
		w.forget(some)
		if !time.Now().Before(until) {
			return nil
		}
	}
	return w.removeUnnamed(ctx, until)
}

// removeUnnamed removes objects that no moment names.
func (w *Writer) removeUnnamed(ctx context.Context, until time.Time) error {
	list := &w.removal
	for len(list.names) > 0 {
		if err := ctx.Err(); err != nil || time.Now().After(list.until) {
			w.removal = removal{}
			return err
		}
		some := list.names[:min(len(list.names), removedAtOnce)]
		if err := remove(ctx, w, objectKey, some); err != nil {
			return fmt.Errorf("remove objects that no moment names: %w", err)
		}
		list.names = list.names[len(some):]
		for _, object := range some {
			w.forgetObject(object)
		}
		if !time.Now().Before(until) {
			return nil
		}
	}
	failed := list.failed
	w.removal = removal{}
	if failed != nil {
		w.ready = false // ask for the state again
	}
	return failed
}

// remove removes moments or objects. After an error, some of them may be removed.
func remove[T any](ctx context.Context, w *Writer, key func(T) string, some []T) error {
	keys := make([]string, len(some))
	for i, one := range some {
		keys[i] = key(one)
	}
	ctx, cancel := within(ctx, 0)
	defer cancel()
	err := w.Place.Delete(ctx, keys...)
	if err != nil {
		w.ready = false // ask for the state again
	}
	return err
}

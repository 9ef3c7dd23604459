package repository

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/bucket"
)

const digestSize = sha256.Size

// Repository reads a repository. It may be used while a server writes to it.
type Repository struct{ place bucket.Place }

// New returns the repository in an object store.
func New(p bucket.Place) *Repository { return &Repository{p} }

// ErrNoMoment reports that a repository has no matching moment.
var ErrNoMoment = errors.New("there is no such moment")

// Moments calls each with all moments, the oldest first. It continues after a moment that cannot be read, and returns
// an error for it that wraps ErrDamaged.
func (r *Repository) Moments(ctx context.Context, each func(*Moment)) error {
	numbers, err := r.numbers(ctx)
	if err != nil {
		return err
	}
	var damaged []error
	for _, n := range numbers {
		switch m, err := r.moment(ctx, n); {
		case errors.Is(err, bucket.ErrNoObject): // it was removed meanwhile
		case errors.Is(err, ErrDamaged):
			damaged = append(damaged, err)
		case err != nil:
			return err
		default:
			each(m)
		}
	}
	return errors.Join(damaged...)
}

// ErrDamaged reports that a moment cannot be read, because it was changed or comes from a newer program.
var ErrDamaged = errors.New("it cannot be understood")

// At returns the last moment that is not after a time, or the last of all at the zero time. If one behind it cannot be
// read, which may be the right one, the error wraps ErrDamaged. A moment at the exact time is never in doubt.
func (r *Repository) At(ctx context.Context, at time.Time) (*Moment, error) {
	numbers, err := r.numbers(ctx)
	if err != nil {
		return nil, err
	}
	var first, found *Moment
	var doubts []error // moments behind the one that was found
	open := true       // the last readable moment is not after the time
	for _, n := range numbers {
		m, err := r.moment(ctx, n)
		switch {
		case errors.Is(err, bucket.ErrNoObject): // it was removed meanwhile
		case errors.Is(err, ErrDamaged):
			if open {
				doubts = append(doubts, err)
			}
		case err != nil:
			return nil, err
		default:
			if first == nil {
				first = m
			}
			if open = at.IsZero() || !m.Created.After(at); open &&
				(at.IsZero() || found == nil || !m.Created.Before(found.Created)) {
				found, doubts = m, nil
			}
		}
	}
	return chosen(first, found, at, errors.Join(doubts...))
}

// chosen returns what At has found, or why there is nothing.
func chosen(first, found *Moment, at time.Time, doubts error) (*Moment, error) {
	switch {
	case found != nil && (doubts == nil || found.Created.Equal(at)):
		return found, nil
	case found != nil:
		return nil, fmt.Errorf("%w; the one before is of %s", doubts, timeText(found))
	case doubts != nil:
		return nil, doubts
	case first == nil:
		return nil, fmt.Errorf("%w: the repository has none", ErrNoMoment)
	}
	return nil, fmt.Errorf("%w: the first is of %s", ErrNoMoment, timeText(first))
}

func timeText(m *Moment) string { return m.Created.UTC().Format(time.RFC3339Nano) }

// Fetch writes the files of a moment to the results of create for their names, and compares each with its digest.
func (r *Repository) Fetch(ctx context.Context, m *Moment, create backup.Create) error {
	if err := m.Data.Check("the backup"); err != nil {
		return err
	}
	for _, f := range m.Files {
		if err := r.fetch(ctx, &f, create); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func (r *Repository) fetch(ctx context.Context, f *File, create backup.Create) error {
	ctx, cancel := within(ctx, f.Size)
	defer cancel()
	from, err := r.place.Open(ctx, objectKey(f.object()))
	if errors.Is(err, bucket.ErrNoObject) {
		return fmt.Errorf("%w: the object %s is missing", backup.ErrNoBackup, f.object())
	}
	if err != nil {
		return err
	}
	if f.Packed != 0 {
		from = newUnpacking(from)
	}
	defer func() { _ = from.Close() }()
	to, err := create(f.Name)
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, h), io.LimitReader(from, f.Size+1))
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	if n != f.Size || hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%w: the object %s is not what was written", backup.ErrNoBackup, f.object())
	}
	return nil
}

// numbers returns the numbers of all moments, in order.
func (r *Repository) numbers(ctx context.Context) (out []int64, err error) {
	ctx, cancel := within(ctx, longList)
	defer cancel()
	list, err := r.place.List(ctx, momentsPrefix)
	for _, o := range list {
		if n, ok := momentNumber(o.Key); ok {
			out = append(out, n)
		}
	}
	return out, err
}

// moment reads a moment. The error wraps bucket.ErrNoObject if there is none, and ErrDamaged if it is damaged.
func (r *Repository) moment(ctx context.Context, number int64) (*Moment, error) {
	text, err := r.read(ctx, momentKey(number))
	if err != nil {
		return nil, fmt.Errorf("moment %d: %w", number, err)
	}
	m, err := decode(text, number)
	if err != nil {
		return nil, fmt.Errorf("moment %d: %w: %w", number, ErrDamaged, err)
	}
	return m, nil
}

func (r *Repository) read(ctx context.Context, key string) (_ []byte, err error) {
	ctx, cancel := within(ctx, maxMeta)
	defer cancel()
	f, err := r.place.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(f, maxMeta+1))
	if err == nil && n > maxMeta {
		err = fmt.Errorf("%s: %w: it is longer than %d bytes", key, ErrDamaged, maxMeta)
	}
	return []byte(text.String()), err
}

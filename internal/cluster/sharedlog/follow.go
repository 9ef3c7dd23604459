package sharedlog

import "context"

// Follow is the Follow of a log that offers Read alone and a channel that is
// closed at its next append.
func Follow(ctx context.Context, l interface {
	Read(context.Context, Position) ([]Record, Extent, error)
	Changed() <-chan struct{}
}, from Position, f func(Record) error,
) error {
	for {
		changed := l.Changed() // before reading, so that no append is missed
		records, _, err := l.Read(ctx, from)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := f(r); err != nil {
				return err
			}
			from = r.Position + 1
		}
		if len(records) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

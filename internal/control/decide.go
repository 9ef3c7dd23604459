package control

import "context"

// Decide makes a change and returns what f returns about it. change is the Change of a Control, or of a package whose
// records are in one: it calls f once at most.
//
// When Decide returns an error, the value is zero. f may still run then, as it does when the disk gets blocked: what it
// has to say is its value, which goes through Decide, and never a variable that the caller reads.
func Decide[V, Tx any](
	ctx context.Context, change func(context.Context, func(Tx) error) error, f func(Tx) (V, error),
) (V, error) {
	decided := make(chan V, 1) // f never waits for a caller that has gone
	err := change(ctx, func(tx Tx) error {
		v, err := f(tx)
		if err == nil {
			decided <- v
		}
		return err
	})
	if err != nil {
		var none V
		return none, err
	}
	return <-decided, nil
}

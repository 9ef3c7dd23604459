package control

import "context"

// Decide makes a change and returns the value of f. change is the Change of a Control, or of a package whose records
// are in one. It calls f at most once.
//
// When Decide returns an error, the value is zero. f may still be running then, for example when the disk becomes
// blocked. So f must pass its result on as its value, and never write to a variable that the caller reads.
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

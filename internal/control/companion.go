package control

import "context"

// companion is the context key of the functions that With adds.
type companion struct{}

// With adds f to every change that is made with the returned context and changes anything. The part of f is in the same
// commit. A server uses this to record the caller of the change. f is called when the change has been decided, by one
// caller at a time. If f returns an error, nothing is changed and Change returns that error.
func With(ctx context.Context, f func(*Tx) error) context.Context {
	return context.WithValue(ctx, companion{}, f)
}

// accompany adds to a change what With has added to ctx.
func accompany(ctx context.Context, tx *Tx) error {
	if f, ok := ctx.Value(companion{}).(func(*Tx) error); ok {
		return f(tx)
	}
	return nil
}

package control

import "context"

// companion is the key of what With adds to a context.
type companion struct{}

// With has every change that is made with the context returned, if it changes anything, do f as
// well: f's part is in the same commit, or there is none. A server records in this way who
// has asked for the change. f is called when the change has been decided, by one caller at a
// time; if it returns an error, nothing is changed and Change returns that error.
func With(ctx context.Context, f func(*Tx) error) context.Context {
	return context.WithValue(ctx, companion{}, f)
}

// accompany makes what belongs to ctx part of a change.
func accompany(ctx context.Context, tx *Tx) error {
	if f, ok := ctx.Value(companion{}).(func(*Tx) error); ok {
		return f(tx)
	}
	return nil
}

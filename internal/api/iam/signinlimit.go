package iam

import "time"

// signInLimit changes how long the sessions of the console last that begin from now on.
type signInLimit struct {
	MaxSigninSessionDuration      *int32 // in seconds
	ResetMaxSigninSessionDuration *bool
}

// check refuses to set the limit and to remove it at once.
func (in *signInLimit) check() error {
	if in.MaxSigninSessionDuration != nil && in.resets() {
		return errInput("MaxSigninSessionDuration and ResetMaxSigninSessionDuration cannot be specified together.")
	}
	return nil
}

func (in *signInLimit) resets() bool {
	return in.ResetMaxSigninSessionDuration != nil && *in.ResetMaxSigninSessionDuration
}

// change changes the limit of a record.
func (in *signInLimit) change(limit *time.Duration) {
	switch {
	case in.MaxSigninSessionDuration != nil:
		*limit = time.Duration(*in.MaxSigninSessionDuration) * time.Second
	case in.resets():
		*limit = 0
	}
}

package command

import "time"

// ShortenApplyPauses removes the pauses between serve's attempts to apply its files, until its result is called.
func ShortenApplyPauses() (restore func()) {
	before := applyPauses
	applyPauses = make([]time.Duration, len(before))
	return func() { applyPauses = before }
}

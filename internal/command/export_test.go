package command

import "time"

// ShortenApplyPauses makes serve apply its files again at once, as often as before, until it is called off.
func ShortenApplyPauses() (restore func()) {
	before := applyPauses
	applyPauses = make([]time.Duration, len(before))
	return func() { applyPauses = before }
}

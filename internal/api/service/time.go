package service

import "time"

// OptionalTime returns a time for an answer, or nil if it is zero.
func OptionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

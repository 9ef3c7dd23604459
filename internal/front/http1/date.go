package http1

import (
	"net/http"
	"sync/atomic"
	"time"
)

// second is a second and its text for the header Date.
type second struct {
	unix int64
	text string
}

var lastSecond atomic.Pointer[second]

// date returns the value of the header Date. It formats each second once.
func date(now time.Time) string {
	unix := now.Unix()
	if s := lastSecond.Load(); s != nil && s.unix == unix {
		return s.text
	}
	s := &second{unix, now.UTC().Format(http.TimeFormat)}
	lastSecond.Store(s)
	return s.text
}

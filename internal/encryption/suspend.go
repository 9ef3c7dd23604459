package encryption

import (
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// ErrSuspended reports that the keys must not be used for the moment. It wraps the reason, an error of the key service.
var ErrSuspended = queue.ErrSuspended

// decryptsFor is how long data keys in memory decrypt after a suspension has begun: SQS's default period of their use.
const decryptsFor = 5 * time.Minute

// suspension is the reason why no data key is made or unwrapped, and the time of its beginning. It is the error for
// callers that need one.
type suspension struct {
	why   error
	since time.Time
}

// Error implements error.
func (s *suspension) Error() string { return ErrSuspended.Error() + ": " + s.why.Error() }

// Unwrap implements the interface of errors.Is.
func (s *suspension) Unwrap() []error { return []error{ErrSuspended, s.why} }

// Suspend stops the use of the keys until Resume. Data keys in memory encrypt until their period ends, and decrypt for
// five minutes, as on AWS.
func (c *Cipher) Suspend(why error) {
	since := c.now()
	if was := c.suspended.Load(); was != nil {
		since = was.since
	}
	c.suspended.Store(&suspension{why, since})
}

// Resume ends a suspension.
func (c *Cipher) Resume() { c.suspended.Store(nil) }

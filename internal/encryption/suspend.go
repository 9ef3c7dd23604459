package encryption

import (
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// ErrSuspended reports that the keys must not be used for the moment. The reason, an error of the key service, is with
// it.
var ErrSuspended = queue.ErrSuspended

// decryptsFor is how long data keys in memory decrypt after a suspension has begun: SQS's default period of their use.
const decryptsFor = 5 * time.Minute

// suspension is why and since when no data key is made or unwrapped. It is the error of those who need one.
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

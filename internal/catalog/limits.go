package catalog

import (
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Tags that limit how many messages the consumers of a queue receive.
const (
	TagDelivery    = "sluice:delivery"         // DeliveryPaused
	TagReceiveRate = "sluice:max-receive-rate" // 50/s, 10/m, 100/h
	TagInFlight    = "sluice:max-in-flight"    // 1 to queue.MaxInFlight

	DeliveryPaused = "paused"
)

// maxRate is the highest value of TagReceiveRate. A higher rate would be no limit.
const maxRate = 1_000_000

// ParseRate parses the value of TagReceiveRate.
func ParseRate(value string) (r queue.Rate, ok bool) {
	number, unit, _ := strings.Cut(value, "/")
	n, err := strconv.Atoi(number)
	r = queue.Rate{Messages: n, Per: map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]}
	if err != nil || n < 1 || n > maxRate || strconv.Itoa(n) != number || r.Per == 0 {
		return queue.Rate{}, false
	}
	return r, true
}

// ParseInFlight parses the value of TagInFlight.
func ParseInFlight(value string) (n int, ok bool) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > queue.MaxInFlight || strconv.Itoa(n) != value {
		return 0, false
	}
	return n, true
}

// limits returns the limits in the queue's tags. It ignores a tag that it cannot parse: an older program may have
// accepted it.
func (q *Queue) limits() (l queue.Limits) {
	l.Paused = q.Tags[TagDelivery] == DeliveryPaused
	l.Rate, _ = ParseRate(q.Tags[TagReceiveRate])
	l.InFlight, _ = ParseInFlight(q.Tags[TagInFlight])
	return l
}

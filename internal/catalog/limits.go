package catalog

import (
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Tags that limit what the consumers of a queue are given.
const (
	TagDelivery    = "sluice:delivery"         // DeliveryPaused
	TagReceiveRate = "sluice:max-receive-rate" // 50/s, 10/m, 100/h
	TagInFlight    = "sluice:max-in-flight"    // 1 to queue.MaxInFlight

	DeliveryPaused = "paused"
)

// maxRate is the most that TagReceiveRate may say: more is no limit.
const maxRate = 1_000_000

// ParseRate reads the value of TagReceiveRate.
func ParseRate(value string) (r queue.Rate, ok bool) {
	number, unit, _ := strings.Cut(value, "/")
	n, err := strconv.Atoi(number)
	r = queue.Rate{Messages: n, Per: map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]}
	if err != nil || n < 1 || n > maxRate || strconv.Itoa(n) != number || r.Per == 0 {
		return queue.Rate{}, false
	}
	return r, true
}

// ParseInFlight reads the value of TagInFlight.
func ParseInFlight(value string) (n int, ok bool) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > queue.MaxInFlight || strconv.Itoa(n) != value {
		return 0, false
	}
	return n, true
}

// limits returns what the queue's tags say. A tag that cannot be read, which an older program may have taken, is none.
func (q *Queue) limits() (l queue.Limits) {
	l.Paused = q.Tags[TagDelivery] == DeliveryPaused
	l.Rate, _ = ParseRate(q.Tags[TagReceiveRate])
	l.InFlight, _ = ParseInFlight(q.Tags[TagInFlight])
	return l
}

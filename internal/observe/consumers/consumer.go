package consumers

import (
	"math/bits"
	"slices"
	"time"
)

// Who identifies a consumer, as far as the server can distinguish consumers.
type Who struct {
	Principal string // ARN; empty: anonymous
	Address   string
	Agent     string // of its requests
}

// Consumer describes a consumer of a queue. The numbers cover the last Minutes minutes, except Times.
type Consumer struct {
	Who
	First, Last time.Time // when it was first and last seen
	Minutes     float64   // how much of the window it was there
	Count
	// Times counts its messages by the time from the receive to the delete: the n-th element counts those below 2^n
	// milliseconds.
	Times []uint64
}

// Count counts calls and messages.
type Count struct {
	Calls      uint64 // receives
	Empty      uint64 // without messages
	ShortCalls uint64 // without a wait
	ShortEmpty uint64
	SingleFull uint64 // that asked for one message and received one
	Received   uint64 // messages
	Deleted    uint64
}

func (c *Count) add(d *Count) {
	c.Calls += d.Calls
	c.Empty += d.Empty
	c.ShortCalls += d.ShortCalls
	c.ShortEmpty += d.ShortEmpty
	c.SingleFull += d.SingleFull
	c.Received += d.Received
	c.Deleted += d.Deleted
}

// classes is the number of elements of Times: the last counts all times above 12 hours.
const classes = 27

func classOf(d time.Duration) int {
	return min(bits.Len64(uint64(max(0, d.Milliseconds()))), classes-1)
}

// Quantile returns the approximate time within which a share of the messages was deleted, or false if there were too
// few.
func (c *Consumer) Quantile(share float64) (time.Duration, bool) {
	const few = 5
	total := uint64(0)
	for _, n := range c.Times {
		total += n
	}
	if total < few {
		return 0, false
	}
	sum := uint64(0)
	for class, n := range c.Times {
		if sum += n; float64(sum) >= share*float64(total) {
			return time.Duration(1<<class) * time.Millisecond, true
		}
	}
	return 0, false
}

// Merge combines the records of several nodes of the consumers of a queue, the busiest first.
func Merge(lists ...[]Consumer) []Consumer {
	byWho := make(map[Who]*Consumer)
	var order []Who
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			known := byWho[c.Who]
			if known == nil {
				own := *c
				own.Times = slices.Clone(c.Times)
				byWho[c.Who] = &own
				order = append(order, c.Who)
				continue
			}
			known.add(&c.Count)
			known.Minutes = max(known.Minutes, c.Minutes)
			if c.First.Before(known.First) {
				known.First = c.First
			}
			if c.Last.After(known.Last) {
				known.Last = c.Last
			}
			for k := range min(len(known.Times), len(c.Times)) {
				known.Times[k] += c.Times[k]
			}
		}
	}
	out := make([]Consumer, 0, len(order))
	for _, who := range order {
		out = append(out, *byWho[who])
	}
	slices.SortStableFunc(out, func(a, b Consumer) int {
		switch {
		case a.Calls > b.Calls:
			return -1
		case a.Calls < b.Calls:
			return 1
		}
		return b.Last.Compare(a.Last)
	})
	return out
}

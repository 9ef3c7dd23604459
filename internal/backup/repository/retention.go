package repository

import (
	"cmp"
	"slices"
	"time"
)

// kept is an existing moment.
type kept struct {
	number int64
	at     time.Time
}

// Within the first of these times all moments are kept, and within the second one per hour.
const (
	keepAll    = time.Hour
	keepHourly = 24 * time.Hour
)

// expired returns the numbers of the moments that are not to be kept, the lowest first. All of the last hour are kept,
// of each hour of the last day the last one, and of each day (UTC) before, until keep is over, the last one. The one
// with the highest number is always kept. A moment that is kept for its hour or its day was the last of it from the
// start, so the result does not depend on earlier calls.
func expired(moments []kept, now time.Time, keep time.Duration) (numbers []int64) {
	byTime := slices.SortedFunc(slices.Values(moments), func(a, b kept) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.number, a.number))
	})
	newest := int64(0)
	for _, m := range moments {
		newest = max(newest, m.number)
	}
	hours, days := make(map[time.Time]bool), make(map[time.Time]bool)
	for _, m := range byTime { // the youngest first
		hour, day := m.at.UTC().Truncate(time.Hour), m.at.UTC().Truncate(24*time.Hour)
		age := now.Sub(m.at)
		keeps := m.number == newest || age < keep &&
			(age < keepAll || age < keepHourly && !hours[hour] || !days[day])
		hours[hour], days[day] = true, true
		if !keeps {
			numbers = append(numbers, m.number)
		}
	}
	slices.Sort(numbers)
	return numbers
}

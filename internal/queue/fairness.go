package queue

// A group of a standard queue is noisy if it has more than a tenth of the messages in
// flight, and at least noisyAtLeast of them: it then takes the time of consumers from the
// others. Messages of no group, and those of the other groups, are the quiet ones.
const noisyAtLeast = 30

// membersAtMost bounds how many messages of quiet groups are counted. They are few while
// a group is noisy, or the others are noisy as well.
const membersAtMost = 10_000

// fairness sets the gauges of a queue with message groups. Where no group is noisy, the
// quiet ones are all.
func (q *queue) fairness(r *Row) error {
	if grouped, err := q.tally.hasGroups(); err != nil || !grouped {
		return err
	}
	noisy := q.noisyGroups()
	r.set(MetricNoisyGroups, uint64(len(noisy)))
	if len(noisy) == 0 {
		for quiet, all := range map[Metric]Metric{
			MetricVisibleInQuietGroups: MetricVisible, MetricInFlightInQuietGroups: MetricInFlight, MetricDelayedInQuietGroups: MetricDelayed, MetricOldestAgeInQuietGroups: MetricOldestAge,
		} {
			r.Values[quiet] = r.Values[all]
		}
		return nil
	}
	inFlight := r.Values[MetricInFlight].Sum
	for _, n := range noisy {
		inFlight -= n
	}
	r.set(MetricInFlightInQuietGroups, inFlight)
	visible, err := q.quietMembers(noisy)
	if err != nil {
		return err
	}
	visible += uint64(q.line.next - q.line.head)
	for e := q.returned.Front(); e != nil; e = e.Next() {
		if _, out := noisy[e.Value.(*received).tenant]; !out {
			visible++
		}
	}
	r.set(MetricVisibleInQuietGroups, visible)
	delayed, err := q.quietDelayed(noisy)
	if err != nil {
		return err
	}
	r.set(MetricDelayedInQuietGroups, delayed)
	age, err := q.oldestAge(noisy)
	r.set(MetricOldestAgeInQuietGroups, age)
	return err
}

// noisyGroups returns how many messages each noisy group has in flight.
func (q *queue) noisyGroups() map[string]uint64 {
	if q.inFlight < noisyAtLeast {
		return nil
	}
	noisy := make(map[string]uint64)
	for _, m := range q.received {
		if m.inFlight && m.tenant != "" {
			noisy[m.tenant]++
		}
	}
	for name, n := range noisy {
		if n < noisyAtLeast || n*10 <= uint64(q.inFlight) {
			delete(noisy, name)
		}
	}
	return noisy
}

// quietMembers counts the available messages of quiet groups that were never received.
func (q *queue) quietMembers(noisy map[string]uint64) (n uint64, err error) {
	from, end := tableRange(q.cfg.ID, tableMember)
	for from != nil && err == nil {
		lo := from
		from = nil
		err = q.tx.Scan(lo, end, func(k, _ []byte) bool {
			name := string(k[keyOf0 : len(k)-9])
			if _, out := noisy[name]; out {
				_, from = memberRange(q.cfg.ID, name, 0)
				return false
			}
			n++
			return n < membersAtMost
		})
	}
	return n, err
}

// quietDelayed counts the messages of quiet groups that wait for their delay to end.
func (q *queue) quietDelayed(noisy map[string]uint64) (n uint64, err error) {
	if q.delays.count == 0 {
		return 0, nil
	}
	var bad error
	looked := 0
	_, end := tableRange(q.cfg.ID, tableDelay)
	err = q.tx.Scan(tableKey(q.cfg.ID, tableDelay).instant(q.delays.floor), end, func(_, v []byte) bool {
		r := readRecord(v)
		r.Instant()
		if _, out := noisy[r.String()]; !out {
			n++
		}
		bad = r.done("delayed message")
		looked++
		return bad == nil && looked < membersAtMost
	})
	return n, firstError(err, bad)
}

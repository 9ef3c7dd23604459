package queue

// A group of a standard queue is noisy if it has more than a tenth of the messages in flight, and at least noisyAtLeast
// of them: it then takes consumers away from the other groups. All other messages are quiet, even those without a
// group.
const noisyAtLeast = 30

// membersAtMost bounds how many messages of quiet groups are counted. While a group is noisy, the others have few
// messages, or are noisy as well.
const membersAtMost = 10_000

// fairness sets the gauges of a queue with message groups. If no group is noisy, all messages are quiet.
func (q *queue) fairness(r *Row) error {
	if grouped, err := q.tally.hasGroups(); err != nil || !grouped {
		return err
	}
	noisy := q.held.noisyGroups()
	r.set(MetricNoisyGroups, uint64(len(noisy)))
	if len(noisy) == 0 {
		for quiet, all := range map[Metric]Metric{
			MetricVisibleInQuietGroups: MetricVisible, MetricInFlightInQuietGroups: MetricInFlight,
			MetricDelayedInQuietGroups: MetricDelayed, MetricOldestAgeInQuietGroups: MetricOldestAge,
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
	visible, err := q.groups.countQuiet(noisy)
	if err != nil {
		return err
	}
	visible += q.line.waiting() + q.held.countQuiet(noisy)
	r.set(MetricVisibleInQuietGroups, visible)
	delayed, err := q.delays.countQuiet(noisy)
	if err != nil {
		return err
	}
	r.set(MetricDelayedInQuietGroups, delayed)
	age, err := q.oldestAge(noisy)
	r.set(MetricOldestAgeInQuietGroups, age)
	return err
}

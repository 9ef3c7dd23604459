package queue

// A group of a standard queue is noisy if it has more than a tenth of the messages in flight, and at least noisyAtLeast
// of them: it then takes consumers away from the other groups. All other messages are quiet, even those without a
// group.
const noisyAtLeast = 30

// membersAtMost bounds how many messages of quiet groups are counted. While a group is noisy, the others have few
// messages, or are noisy as well.
const membersAtMost = 10_000

// fairness sets the gauges of a standard queue with message groups. If no group is noisy, all messages are quiet.
func (ms *messages) fairness(r *Row) error {
	noisy := ms.held.noisyGroups()
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
	visible, err := ms.groups.countQuiet(noisy)
	if err != nil {
		return err
	}
	visible += ms.line.waiting() + ms.held.countQuiet(noisy)
	r.set(MetricVisibleInQuietGroups, visible)
	delayed, err := ms.delays.countQuiet(noisy)
	if err != nil {
		return err
	}
	r.set(MetricDelayedInQuietGroups, delayed)
	age, err := ms.oldestAge(noisy)
	r.set(MetricOldestAgeInQuietGroups, age)
	return err
}

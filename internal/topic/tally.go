package topic

// tally counts what an account has.
type tally struct {
	topics        int
	fifo          int            // of topics
	subscriptions int            // that it owns; without those that have ended
	filters       map[string]int // of subscriptions, the filter policies; by region
}

// tallies are those of the accounts that have records.
type tallies map[string]*tally

// of returns the tally of an account, which may be empty.
func (all tallies) of(account string) tally {
	if t := all[account]; t != nil {
		return *t
	}
	return tally{}
}

// change changes the tally of an account, and removes it when nothing is left.
func (all tallies) change(account string, change func(*tally)) {
	t := all[account]
	if t == nil {
		t = new(tally)
		all[account] = t
	}
	if change(t); t.topics == 0 && t.subscriptions == 0 {
		delete(all, account)
	}
}

func (all tallies) countTopic(n Name, old, is *Topic) error {
	switch {
	case old == nil:
		all.change(n.Account, func(t *tally) { t.countTopics(n, +1) })
	case is == nil:
		all.change(n.Account, func(t *tally) { t.countTopics(n, -1) })
	}
	return nil
}

// countTopics counts more topics like n.
func (t *tally) countTopics(n Name, more int) {
	t.topics += more
	if n.FIFO() {
		t.fifo += more
	}
}

func (all tallies) countSubscription(_ string, old, is *Subscription) error {
	if old != nil && old.Ending == nil {
		all.change(old.Owner, func(t *tally) { t.countSubscriptions(old, -1) })
	}
	if is != nil && is.Ending == nil {
		all.change(is.Owner, func(t *tally) { t.countSubscriptions(is, +1) })
	}
	return nil
}

// countSubscriptions counts more subscriptions like s.
func (t *tally) countSubscriptions(s *Subscription, more int) {
	t.subscriptions += more
	if s.Attributes.Filter == "" {
		return
	}
	region := s.Topic.Region
	if t.filters == nil {
		t.filters = make(map[string]int)
	}
	if t.filters[region] += more; t.filters[region] == 0 {
		delete(t.filters, region)
	}
}

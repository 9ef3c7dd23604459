package metricmath

// maxSearches is how many searches an expression can have.
const maxSearches = 10

// Search is a SEARCH of an expression: for all series that a text finds. This package does not know the meaning of the
// text.
type Search struct {
	Text      string
	Statistic string
	Period    int64 // in seconds; 0: the search does not say
	at        int
}

// search reads the arguments of SEARCH: a text, a statistic and a period, which may be missing.
func (p *parser) search(name token) (node, error) {
	s := &Search{at: name.at}
	for i, to := range []*string{&s.Text, &s.Statistic} {
		if i > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		t := p.take()
		if t.kind != textToken {
			return nil, syntax(t.at, "expected a text in quotes, found %s", t)
		}
		*to = t.text
	}
	if p.accept(",") {
		t := p.take()
		if s.Period = int64(t.number); t.kind != numberToken || float64(s.Period) != t.number || s.Period < 1 || s.Period > maxPeriod {
			return nil, syntax(t.at, "expected a period in seconds, found %s", t)
		}
	}
	if p.searches = append(p.searches, s); len(p.searches) > maxSearches {
		return nil, fault(name.at, "an expression has at most %d searches", maxSearches)
	}
	return s, p.expect(")")
}

// maxPeriod is the longest period of a search: a year.
const maxPeriod = 366 * 24 * 3600

func (s *Search) evaluate(env *Env) (Value, error) {
	v, ok := env.Searches[s]
	if !ok {
		return Value{}, fault(s.at, "SEARCH is not supported here")
	}
	return v, nil
}

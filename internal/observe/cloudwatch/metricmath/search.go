package metricmath

import "github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"

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
func (p *parser) search(name syntax.Token) (node, error) {
	s := &Search{at: name.At + 1}
	for i, to := range []*string{&s.Text, &s.Statistic} {
		if i > 0 {
			if err := p.Expect(","); err != nil {
				return nil, err
			}
		}
		t := p.Next()
		if t.Kind != syntax.Quoted {
			return nil, p.Fault(t, "expected a text in quotes, found %s", t)
		}
		*to = t.Text
	}
	if p.Accept(",") {
		t := p.Next()
		seconds, err := valueOf(t)
		s.Period = int64(seconds)
		if t.Kind != syntax.Number || err != nil || float64(s.Period) != seconds || s.Period < 1 ||
			s.Period > maxPeriod {
			return nil, p.Fault(t, "expected a period in seconds, found %s", t)
		}
	}
	if p.searches = append(p.searches, s); len(p.searches) > maxSearches {
		return nil, fault(name.At+1, "an expression has at most %d searches", maxSearches)
	}
	return s, p.Expect(")")
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

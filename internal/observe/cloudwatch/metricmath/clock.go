package metricmath

import "time"

// clock is a function of when each period of a series begins, in UTC. It has a value for every period of the window.
func clock(f func(time.Time) int) function {
	return of(1, 1, func(c *call, env *Env) (Value, error) {
		v, err := c.series(env, 0)
		if err != nil {
			return Value{}, err
		}
		if err := env.spendOnWindow(v); err != nil {
			return Value{}, err
		}
		return v.each(func(s *Series) Series {
			out := s.like()
			out.Samples = make([]Sample, 0, env.periods(s.Period))
			for at := env.Start; at < env.End && s.Period > 0; at += s.Period {
				out.add(at, float64(f(time.Unix(at, 0).UTC())))
			}
			return out
		}), nil
	})
}

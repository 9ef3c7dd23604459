package metricmath

import (
	"cmp"
	"math"
	"slices"
)

// list returns the value of the first argument, which must be a list.
func (c *call) list(env *Env) ([]Series, error) {
	v, err := c.arg(env, 0)
	if err == nil && v.Kind != List {
		return nil, fault(c.at, "%s takes a list of time series, not %s", c.name, v.Kind)
	}
	return v.Series, err
}

// index returns the value of an argument that is a place in a list, or a number of series.
func (c *call) index(env *Env, i int) (int, error) {
	v, err := c.arg(env, i)
	switch {
	case err != nil:
		return 0, err
	case v.Kind != Number || !(v.Number >= 0) || v.Number != math.Trunc(v.Number):
		return 0, fault(c.at, "%s takes whole numbers from 0 on as its other arguments", c.name)
	}
	return int(min(v.Number, math.MaxInt32)), nil
}

// removeEmpty removes the series of a list that have no samples.
func removeEmpty(c *call, env *Env) (Value, error) {
	v, err := c.series(env, 0)
	if err != nil || v.Kind != List {
		return v, err
	}
	if err := env.spend(len(v.Series), 0); err != nil {
		return Value{}, err
	}
	return ListOf(slices.DeleteFunc(slices.Clone(v.Series), func(s Series) bool { return len(s.Samples) == 0 })), nil
}

func metricCount(c *call, env *Env) (Value, error) {
	all, err := c.list(env)
	return number(float64(len(all))), err
}

// first is the first series of a list, and without samples if there is none.
func first(c *call, env *Env) (Value, error) {
	return pick(c, env, func([]Series) int { return 0 })
}

func last(c *call, env *Env) (Value, error) {
	return pick(c, env, func(all []Series) int { return len(all) - 1 })
}

func pick(c *call, env *Env, which func([]Series) int) (Value, error) {
	all, err := c.list(env)
	switch {
	case err != nil:
		return Value{}, err
	case len(all) == 0:
		return one(Series{Period: env.Period}), nil
	}
	return one(all[which(all)]), nil
}

// slice is a part of a list: from a place on, which counts from 0, and up to another, which is not in it.
func slice(c *call, env *Env) (Value, error) {
	all, err := c.list(env)
	if err != nil {
		return Value{}, err
	}
	from, err := c.index(env, 1)
	if err != nil {
		return Value{}, err
	}
	to := len(all)
	if len(c.args) == 3 {
		if to, err = c.index(env, 2); err != nil {
			return Value{}, err
		}
	}
	to = min(to, len(all))
	return ListOf(all[min(from, to):to]), nil
}

// sorted is a list in the order of a function's results for the samples of each series. Series without samples come
// last.
func sorted(c *call, env *Env) (Value, error) {
	all, err := c.list(env)
	if err != nil {
		return Value{}, err
	}
	most := len(all)
	if len(c.args) == 4 {
		if most, err = c.index(env, 3); err != nil {
			return Value{}, err
		}
	}
	if err := env.spendOn(ListOf(all)); err != nil {
		return Value{}, err
	}
	by := map[word]func([]float64) float64{
		"AVG": average, "MAX": slices.Max[[]float64], "MIN": slices.Min[[]float64], "SUM": sum,
	}[c.args[1].(word)]
	type ranked struct {
		series Series
		by     float64
	}
	ranks := make([]ranked, 0, len(all))
	var empty []Series
	for _, s := range all {
		if len(s.Samples) == 0 {
			empty = append(empty, s)
			continue
		}
		ranks = append(ranks, ranked{s, by(s.values())})
	}
	sign := 1
	if c.args[2].(word) == "DESC" {
		sign = -1
	}
	slices.SortStableFunc(ranks, func(a, b ranked) int { return sign * cmp.Compare(a.by, b.by) })
	out := make([]Series, 0, len(all))
	for _, r := range ranks {
		out = append(out, r.series)
	}
	out = append(out, empty...)
	return ListOf(out[:min(most, len(out))]), nil
}

package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

const (
	// afterMinute is how long after the end of a minute its points are read: they are written when it ends.
	afterMinute = 5 * time.Second
	// atOnce is how many alarms are evaluated at the same time: their points may come from other nodes.
	atOnce = 8
	// verdictsAtOnce is how many verdicts share one change of the control store.
	verdictsAtOnce = 50
	// evaluationTimeout is how long the evaluation of all alarms may take, so that it is over before the next.
	evaluationTimeout = 50 * time.Second
	// FineEvery is how often alarms with periods below a minute are evaluated, and the minimum of such a period.
	FineEvery = 10 * time.Second
	// fineTimeout is how long that may take.
	fineTimeout = 8 * time.Second
	sweepEvery  = time.Hour
)

// EvaluatorOptions configures an Evaluator.
type EvaluatorOptions struct {
	Monitor *Monitor
	Reader  series.Reader // of the metrics that Sluice counts itself
	Levels  series.Levels
	Budget  *budget.Budget // for queries of history; nil means its own
	Topics  Publisher
	Now     func() time.Time
	Log     *slog.Logger
}

// Evaluator watches: it evaluates all metric alarms every minute, those with periods below a minute every ten seconds,
// and composite alarms when the alarms they depend on have changed. It carries out the actions of all, while this node
// owns the control store.
type Evaluator struct {
	EvaluatorOptions
	attempts attempts
	looked   look // at muted alarms
}

// NewEvaluator returns an evaluator, which is inactive before Run.
func NewEvaluator(o EvaluatorOptions) *Evaluator {
	if o.Budget == nil {
		o.Budget = budget.New(budget.Size)
	}
	return &Evaluator{EvaluatorOptions: o, attempts: make(attempts)}
}

// Run watches until ctx ends. A slow topic does not delay the next evaluation.
func (e *Evaluator) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { e.act(ctx) })
	wg.Go(func() { e.combineLoop(ctx) })
	defer wg.Wait()
	next := time.NewTimer(e.untilNext())
	defer next.Stop()
	swept := e.Now()
	evaluated := swept.Add(-afterMinute).Truncate(series.Minute) // the minute of the last complete evaluation
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		now := e.Now()
		evaluate := e.EvaluateFine
		if minute := now.Truncate(series.Minute); minute.After(evaluated) {
			evaluated, evaluate = minute, e.Evaluate
		}
		e.report("alarms could not be evaluated", evaluate(ctx, now))
		if now.Sub(swept) >= sweepEvery && !e.Monitor.control.Elsewhere() {
			swept = now
			e.report("the history of alarms could not be tidied up", e.Monitor.Sweep(ctx, now))
		}
		next.Reset(e.untilNext())
	}
}

// act carries out actions until ctx ends.
func (e *Evaluator) act(ctx context.Context) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-second.C:
			e.report("the actions of alarms could not be carried out", e.Deliver(ctx, e.Now()))
		}
	}
}

// untilNext returns the time until the next evaluation.
func (e *Evaluator) untilNext() time.Duration {
	now := e.Now()
	next := now.Truncate(FineEvery).Add(afterMinute)
	if !next.After(now) {
		next = next.Add(FineEvery)
	}
	return next.Sub(now)
}

// report logs an error, except those that mean that it is another node's turn.
func (e *Evaluator) report(what string, err error) {
	if err != nil && !errors.Is(err, control.ErrElsewhere) && !errors.Is(err, context.Canceled) {
		e.Log.Warn(what, "error", err)
	}
}

// verdict is an alarm with the decision about it, or the trouble that has prevented one.
type verdict struct {
	alarm    *Alarm
	decision alarm.Decision
	trouble  *Trouble
}

// isNews reports whether the verdict changes the alarm.
func (v *verdict) isNews() bool {
	return !v.alarm.isTrouble(v.trouble) || v.trouble == nil && v.decision.State != v.alarm.State
}

// Evaluate evaluates every metric alarm once. An alarm whose metrics cannot be read keeps its state; Evaluate returns
// the first reason after all others were evaluated. On a node that does not own the control store it does nothing.
func (e *Evaluator) Evaluate(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, evaluationTimeout)
	defer cancel()
	return e.evaluateAll(ctx, now, func(*Alarm) bool { return true })
}

// EvaluateFine is Evaluate for the alarms whose periods are below a minute.
func (e *Evaluator) EvaluateFine(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, fineTimeout)
	defer cancel()
	return e.evaluateAll(ctx, now, (*Alarm).isFine)
}

// isFine reports whether all periods of the alarm are below a minute.
func (a *Alarm) isFine() bool {
	if a.Metric != nil {
		return a.Metric.Period < series.Minute
	}
	if !slices.ContainsFunc(a.Queries, func(q metricdata.Query) bool {
		return q.Stat != nil && q.Stat.Period < series.Minute
	}) {
		return false
	}
	plan, err := a.Plan()
	return err == nil && plan.Period() < series.Minute
}

// evaluateAll evaluates the alarms that which selects.
func (e *Evaluator) evaluateAll(ctx context.Context, now time.Time, which func(*Alarm) bool) error {
	if e.Monitor.control.Elsewhere() {
		return nil
	}
	alarms := e.Monitor.Where(func(a *Alarm) bool { return a.Composite == nil && which(a) })
	src := e.Monitor.Source(e.Reader, e.Levels, now)
	var mu sync.Mutex
	var changed []verdict
	var failures []error
	began := time.Now()
	waiting := newTurns(alarms, func() time.Duration { return time.Since(began) })
	var wg sync.WaitGroup
	for range min(atOnce, len(alarms)) {
		wg.Go(func() {
			for a, done := waiting.next(); a != nil; a, done = waiting.next() {
				d, err := e.evaluate(ctx, a, src, now)
				done()
				v := verdict{a, d, troubleOf(a, err)}
				mu.Lock()
				if err != nil {
					failures = append(failures, fmt.Errorf("alarm %s: %w", a.ARN(), err))
				}
				if v.isNews() {
					changed = append(changed, v)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for len(changed) > 0 {
		n := min(len(changed), verdictsAtOnce)
		if err := e.Monitor.record(ctx, changed[:n], now); err != nil {
			return err
		}
		changed = changed[n:]
	}
	if len(failures) > 0 {
		return fmt.Errorf(
			"%d of %d alarms keep their state, the first because: %w", len(failures), len(alarms), failures[0],
		)
	}
	return nil
}

// evaluate decides about an alarm. Its reading is limited as a request's is, separately from the account's own queries.
func (e *Evaluator) evaluate(
	ctx context.Context, a *Alarm, src *metricdata.Source, now time.Time,
) (alarm.Decision, error) {
	ctx, end := e.Budget.Begin(ctx, "alarms of "+a.Account)
	defer end()
	return a.evaluate(ctx, src, now)
}

// evaluate decides about an alarm.
func (a *Alarm) evaluate(ctx context.Context, src *metricdata.Source, now time.Time) (alarm.Decision, error) {
	plan, err := a.Plan()
	if err != nil {
		return alarm.Decision{}, err
	}
	rule := a.rule(plan.Period())
	if rule.Calendar() {
		byClock := *src
		byClock.Reader = calendar{src.Reader, rule}
		src = &byClock
	}
	from, to := rule.Window(now)
	results, err := plan.Run(ctx, src, a.Scope, from, to)
	if err != nil {
		return alarm.Decision{}, err
	}
	points, err := a.datapoints(results)
	if err != nil {
		return alarm.Decision{}, err
	}
	if a.tooFewSamples(points) {
		return alarm.Decision{State: a.State}, nil
	}
	return alarm.Evaluate(rule, points, now, a.State), nil
}

// datapoints returns the datapoints of the series that the alarm watches.
func (a *Alarm) datapoints(results []metricdata.Result) ([]alarm.Datapoint, error) {
	if a.ThresholdID != "" {
		return a.withBands(results)
	}
	if len(results) != 1 {
		return nil, unfit("its expression results in %d time series, and an alarm watches one", len(results))
	}
	points := make([]alarm.Datapoint, len(results[0].Points))
	for i, p := range results[0].Points {
		points[i] = alarm.Datapoint{Time: p.Time, Count: p.Count, Value: p.Value}
	}
	return points, nil
}

// tooFewSamples reports whether the evaluated datapoints have too few samples for the alarm's percentile, and the alarm
// ignores such datapoints.
func (a *Alarm) tooFewSamples(points []alarm.Datapoint) bool {
	if a.Metric == nil || a.LowSamples != "ignore" {
		return false
	}
	statistic, _ := metricdata.ParseStatistic(a.Metric.Statistic)
	var samples float64
	for _, p := range points[max(0, len(points)-a.Periods):] {
		samples += p.Count
	}
	return samples > 0 && samples < statistic.Enough()
}

// record stores the verdicts of evaluations, except for alarms that were changed meanwhile.
func (m *Monitor) record(ctx context.Context, all []verdict, now time.Time) error {
	return m.Change(ctx, func(tx *Tx) error {
		for _, v := range all {
			if m.Alarm(v.alarm.Name) != v.alarm {
				continue
			}
			if err := tx.evaluated(v, now); err != nil {
				return err
			}
		}
		return nil
	})
}

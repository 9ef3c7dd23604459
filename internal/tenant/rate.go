package tenant

import (
	"sync"
	"time"
)

// rate is one rate of a subject, as one node knows it.
//
// The bucket whole is the limit for all nodes together: it fills at the limit, and loses the takes of this node at
// once, and those of the others when they report them. It is correct to within one heartbeat, and any excess meanwhile
// is then subtracted. It alone would be enough, but would work in bursts: all nodes would take what only one of them
// may, and then wait. So there is own, which fills at this node's share of the limit: its part of the recent demand of
// all clients. The unused shares of others gather in whole, and a node takes of that, too, while it is more than half
// full.
//
//	       limit               limit × share
//	         │                       │
//	    ┌────▼────┐             ┌────▼───┐
//	    │  whole  │             │  own   │     a request passes if whole has something,
//	    └─┬─────┬─┘             └───┬────┘     and own has, or whole is half full
//	what others took │              │
//	(heartbeats)     └─ what this node takes
type rate struct {
	mu    sync.Mutex
	limit float64
	whole bucket
	own   bucket
	share float64 // 1 where there are no others

	taken  int64 // since the process began, or since a long time without demand
	asked  int64 // in the current second, including refused ones
	demand float64
	quiet  time.Time       // since when there is no demand; zero while there is
	others map[string]told // by node
}

// told is the last report of another node about a rate.
type told struct {
	Taken  int64   `json:"t"` // since its process began, or since a long time without demand there
	Demand float64 `json:"d"` // per second
	heard
}

// heard records when, and from which process, a node was heard.
type heard struct {
	process string
	at      time.Time
}

// forgetAfter is how long a node's report counts. A node is silent longer only if it is dead or cut off. After a longer
// time without demand, a node starts to count again.
const forgetAfter = 5 * time.Second

func newRate(limit int64) *rate {
	return &rate{limit: float64(limit), share: 1, others: make(map[string]told)}
}

// take takes n, at least 1, or returns false if nothing may be taken now.
func (r *rate) take(n int, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fill(now)
	r.asked += int64(n)
	if !r.mayTake() {
		return false
	}
	r.spend(n)
	return true
}

// mayTake is the rule in the diagram above.
func (r *rate) mayTake() bool {
	return r.whole.has() && (r.share == 1 || r.own.has() || r.whole.balance >= size(r.limit)/2)
}

// giveBack undoes a take.
func (r *rate) giveBack(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spend(-n)
}

// more takes n more for an admitted request, even if there is less.
func (r *rate) more(n int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fill(now)
	r.asked += int64(n)
	r.spend(n)
}

func (r *rate) spend(n int) {
	r.taken += int64(n)
	r.whole.balance -= float64(n)
	// Taking from the unused shares of others creates no debt.
	r.own.balance = max(r.own.balance-float64(n), -size(r.limit*r.share))
}

func (r *rate) fill(now time.Time) {
	r.whole.fill(r.limit, now)
	r.own.fill(r.limit*r.share, now)
}

// hear receives the report of another node. If this process hears the node for the first time, known means that the
// node's earlier takes are past. Otherwise everything it has taken since its last report of this rate, or since it
// began to count, is new.
func (r *rate) hear(node string, said told, known bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, had := r.others[node]
	switch {
	case had && was.process == said.process && was.Taken <= said.Taken:
		r.overdraw(said.Taken-was.Taken, now)
	case had || known:
		r.overdraw(said.Taken, now)
	}
	r.others[node] = said
}

// overdraw subtracts what others have taken. A node that was cut off may report a large amount: what exceeds the
// limit's amount during forgetAfter is not paid back.
func (r *rate) overdraw(n int64, now time.Time) {
	r.fill(now)
	if n <= 0 {
		return
	}
	most := size(r.limit) + r.limit*forgetAfter.Seconds()
	r.whole.balance = max(r.whole.balance-float64(n), min(r.whole.balance, -most))
}

// tick ends a second: it computes the demand, and this node's share of the limit.
func (r *rate) tick(passed time.Duration, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fill(now)
	r.settle(passed, now)
	// A node without demand gets a small share, so that the first request there need not wait.
	little := 1 + r.limit/100
	mine := min(r.demand, 2*r.limit) + little
	all := mine
	for node, o := range r.others {
		if now.Sub(o.at) >= forgetAfter {
			delete(r.others, node)
			continue
		}
		all += min(o.Demand, 2*r.limit) + little
	}
	if r.share = mine / all; len(r.others) == 0 {
		r.share = 1
	}
}

// settle computes the demand per second.
func (r *rate) settle(passed time.Duration, now time.Time) {
	r.demand = (r.demand + float64(r.asked)/max(passed.Seconds(), 0.1)) / 2
	r.asked = 0
	switch {
	case r.demand >= least:
		r.quiet = time.Time{}
	case r.quiet.IsZero():
		r.demand, r.quiet = 0, now
	case now.Sub(r.quiet) > 2*forgetAfter:
		r.taken = 0
	}
}

// least is the minimum demand that is reported.
const least = 0.01

// say returns this node's report, and whether there is anything to report.
func (r *rate) say() (told, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return told{Taken: r.taken, Demand: r.demand}, r.demand >= least || r.asked > 0
}

// use returns the use per second on all nodes: the demand, up to the limit.
func (r *rate) use(now time.Time) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := r.demand
	for _, o := range r.others {
		if now.Sub(o.at) < forgetAfter {
			sum += o.Demand
		}
	}
	return min(sum, r.limit)
}

// set changes the limit. Accumulated amounts are kept as far as the new limit allows.
func (r *rate) set(limit int64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limit == float64(limit) {
		return
	}
	r.fill(now)
	r.limit = float64(limit)
	r.fill(now)
}

package cluster

import (
	"cmp"
	"hash/fnv"
	"slices"

	"github.com/sluicemq/sluice/internal/cluster/status"
)

const copies = status.Copies

// member is what placement has to know of a node.
type member struct {
	name string
	// fit says that shards may be put there: it is alive, or has not been dead
	// for long, and is not being drained.
	fit bool
	// live says that it is alive now.
	live bool
}

// shardRecord says where a shard is kept, and who should own it.
type shardRecord struct {
	Replicas  []string // names of nodes
	Preferred string   // one of them, or empty
}

// place returns where shards should be kept and who should own them, one step
// from where they are: of each shard one replica at most is added, or taken away
// when there are enough others that are ready. Nothing moves without a reason, and
// a node that comes gets its share.
func place(
	shards []string, members []member, now map[string]shardRecord, ready func(shard, node string) bool,
) map[string]shardRecord {
	next := make(map[string]shardRecord, len(shards))
	for _, s := range shards {
		next[s] = shardRecord{Replicas: step(s, members, now[s].Replicas, ready), Preferred: now[s].Preferred}
	}
	if _, ok := next[controlShard]; ok { // every node has it
		r := shardRecord{Preferred: now[controlShard].Preferred}
		for _, m := range members {
			r.Replicas = append(r.Replicas, m.name)
		}
		next[controlShard] = r
	}
	prefer(shards, members, now, next, ready)
	return next
}

// step returns the replicas of a shard after one change. A change is over when
// those who should keep the shard and do so already are ready; then one that should
// not is taken away, of several one that is not ready itself.
func step(shard string, members []member, now []string, ready func(shard, node string) bool) []string {
	wanted := wish(shard, members, now)
	if len(now) == 0 {
		return wanted
	}
	now = slices.Clone(now)
	if len(now) <= len(wanted) {
		for _, name := range wanted {
			if !slices.Contains(now, name) {
				return append(now, name)
			}
		}
	}
	extra := -1
	for i, name := range now {
		switch {
		case slices.Contains(wanted, name):
			if !ready(shard, name) {
				return now
			}
		case extra < 0 || ready(shard, now[extra]) && !ready(shard, name):
			extra = i
		}
	}
	if extra < 0 {
		return now
	}
	return slices.Delete(now, extra, extra+1)
}

// wish returns who should keep a shard: by rendezvous hashing (Thaler and
// Ravishankar, 1998), so that a node that comes or goes moves few shards. If the
// nodes that are fit are too few, those that have it go on keeping it.
func wish(shard string, members []member, now []string) []string {
	var fit, rest []string
	for _, m := range members {
		switch {
		case m.fit:
			fit = append(fit, m.name)
		case slices.Contains(now, m.name):
			rest = append(rest, m.name)
		}
	}
	byWeight := func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(shard, b), weight(shard, a)), cmp.Compare(a, b))
	}
	slices.SortFunc(fit, byWeight)
	slices.SortFunc(rest, byWeight)
	all := append(fit, rest...)
	return all[:min(copies, len(all))]
}

func weight(shard, node string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(node))
	h.Write([]byte{0})
	h.Write([]byte(shard))
	// FNV leaves the last bytes' differences in the low bits.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// prefer chooses who should own each shard: as evenly as may be. A node that is
// preferred already stays so unless it has too many shards or is not fit. Of a shard that is
// new no node has anything, and so all are ready.
func prefer(shards []string, members []member, now, next map[string]shardRecord, ready func(shard, node string) bool) {
	able := make(map[string]bool)
	for _, m := range members {
		if m.fit && m.live {
			able[m.name] = true
		}
	}
	load := make(map[string]int)
	for _, r := range next {
		load[r.Preferred]++
	}
	for _, s := range shards {
		r := next[s]
		best := ""
		for _, name := range r.Replicas {
			if able[name] && (len(now[s].Replicas) == 0 || ready(s, name)) && (best == "" || load[name] < load[best]) {
				best = name
			}
		}
		stays := able[r.Preferred] && slices.Contains(r.Replicas, r.Preferred)
		// Moving one must make it more even, not only the other way round.
		if best == "" || stays && load[r.Preferred] <= load[best]+1 {
			if !stays {
				load[r.Preferred]--
				r.Preferred = ""
				next[s] = r
			}
			continue
		}
		load[r.Preferred]--
		load[best]++
		r.Preferred = best
		next[s] = r
	}
}

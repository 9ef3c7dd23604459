package cluster

import (
	"cmp"
	"hash/fnv"
	"slices"

	"github.com/sluicemq/sluice/internal/cluster/status"
)

const copies = status.Copies

// member describes a node for placement.
type member struct {
	name string
	// fit reports whether the node may keep shards: it is alive, or has been dead only briefly, and is not being
	// drained.
	fit bool
	// live reports whether the node is alive.
	live bool
}

// shardRecord records which nodes keep a shard, and which should own it.
type shardRecord struct {
	Replicas  []string // names of nodes
	Preferred string   // one of them, or empty
}

// place returns one step towards the best placement: where shards should be kept, and who should own them. It adds at
// most one replica of each shard, or removes one when enough others are ready. Shards do not move without a reason, and
// a new node gets its share.
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

// step returns the replicas of a shard after one change. A change is complete when the nodes that should keep the
// shard, and do so already, are ready. Then step removes a replica that should not exist, preferably one that is not
// ready.
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

// wish returns the nodes that should keep a shard, by rendezvous hashing (Thaler and Ravishankar, 1998), so that few
// shards move when a node comes or goes. If too few nodes are fit, the present ones keep the shard.
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
	// FNV leaves differences of the last bytes in the low bits.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// prefer chooses the owner of each shard, as evenly as possible. A preferred node stays preferred unless it has too
// many shards or is not fit. No node has data of a new shard, so all are ready for it.
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
		// A move must make the distribution more even, not mirror it.
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

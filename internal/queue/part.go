package queue

// PartOf returns which part of a spread FIFO queue serves a message group, counted from 0. The result never changes: a
// group that changed its shard would lose its order.
func PartOf(group string, parts int) int {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset) // FNV-1a, and a finaliser: its low bits are not good enough
	for i := range len(group) {
		h = (h ^ uint64(group[i])) * prime
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	return int((h ^ h>>33) % uint64(parts))
}

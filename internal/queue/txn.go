package queue

// Txn is the store that the engine needs: an ordered key-value space whose reads include the changes made so far. The
// changes of a Txn become durable together or not at all. No call keeps its arguments.
type Txn interface {
	// Get returns the value of key, or nil if there is none.
	Get(key []byte) ([]byte, error)
	// Scan calls f with the keys from lo up to but not including hi, in order, until f returns false. The slices are
	// valid only during the call. The scan does not see changes that f makes.
	Scan(lo, hi []byte, f func(key, value []byte) bool) error
	// Set gives key a value.
	Set(key, value []byte)
	Delete(key []byte)
	// DeleteOnce removes a key that was set exactly once since it was last absent.
	DeleteOnce(key []byte)
	// DeleteRange removes the keys from lo up to but not including hi.
	DeleteRange(lo, hi []byte)
	// Size returns the size of the changes so far, in bytes.
	Size() int
}

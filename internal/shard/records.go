package shard

import "github.com/sluicemq/sluice/internal/store"

// records reads the records of the messages of one receive: recently written ones from memory, the others from the
// store.
type records struct {
	from   *readers
	many   bool          // more than one is wanted
	reader *store.Reader // nil before the first of many that memory does not have
	buffer []byte
}

// get returns the record under a key. It is valid until the next call.
func (r *records) get(key []byte) (record []byte, err error) {
	var recent bool
	if r.buffer, recent = r.from.recent.append(r.buffer[:0], key); recent {
		return r.buffer, nil
	}
	if !r.many {
		return r.from.store.Get(key)
	}
	if r.reader == nil {
		r.reader = r.from.store.Reader()
	}
	return r.reader.Borrow(key)
}

func (r *records) close() {
	if r.reader != nil {
		r.reader.Close()
	}
}

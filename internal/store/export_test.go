package store

// Flush writes the memtable to a table, as happens by itself when it is full.
func (s *Store) Flush() error { return s.db.Flush() }

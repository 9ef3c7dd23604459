package trail

// Share divides this many bytes between the accounts with read or refused calls.
func (t *Trail) Share(room int) error { return t.share(others, keyPrefix+string(others), room) }

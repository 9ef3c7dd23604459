package series

import "fmt"

// Space limits how many bytes the records of a kind can take in all regions of an account. AWS limits only numbers, but
// some records may be so long that the permitted numbers take gigabytes.
type Space struct {
	Of    string // the kind, in the plural
	Bytes int
}

// Allow returns nil if records that take used bytes may take more bytes, or a SpaceError. It never refuses a change
// after which they take no more than before.
func (s Space) Allow(used, more int) error {
	if more > 0 && used+more > s.Bytes {
		return SpaceError{s}
	}
	return nil
}

// SpaceError refuses a record for which there is no room. Two of the same limit are equal.
type SpaceError struct{ Space Space }

func (e SpaceError) Error() string {
	return fmt.Sprintf("the %s of an account can take at most %d MiB", e.Space.Of, e.Space.Bytes>>20)
}

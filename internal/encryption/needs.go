package encryption

import (
	"bytes"

	"github.com/sluicemq/sluice/internal/keyring"
)

// Needs reports whether a record of a store may have a part that was encrypted under a key. It looks for the beginning
// of such a part anywhere, so it knows no tables. It may find a text that was not encrypted and looks like that, but
// never misses a part.
func Needs(record []byte, k keyring.ShortID) bool {
	var mark [1 + len(k)]byte
	mark[0] = partVersion
	copy(mark[1:], k[:])
	return bytes.Contains(record, mark[:])
}

package encryption

import (
	"bytes"

	"github.com/sluicemq/sluice/internal/keyring"
)

// Needs reports whether a record of a store may have a part that was encrypted under a key. It searches the whole
// record for the beginning of such a part, so it does not depend on the format of tables. It may find an unencrypted
// text that looks like one, but never misses a part.
func Needs(record []byte, k keyring.ShortID) bool {
	var mark [1 + len(k)]byte
	mark[0] = partVersion
	copy(mark[1:], k[:])
	return bytes.Contains(record, mark[:])
}

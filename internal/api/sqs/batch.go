package sqs

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

const (
	maxBatchEntries = 10
	maxEntryID      = 80
)

// batchError is the failure of one entry of a batch, the others of which may
// have succeeded.
type batchError struct {
	Id          string
	SenderFault bool
	Code        string
	Message     string `json:",omitempty"`
}

func failed(id string, err *protocol.Error) batchError {
	return batchError{Id: id, SenderFault: err.Fault() == "Sender", Code: err.Code, Message: err.Message}
}

// checkEntries refuses a batch as a whole: for the number of its entries or for
// their ids.
func checkEntries[E any](entryType string, entries []E, id func(*E) string) *protocol.Error {
	switch n := len(entries); {
	case n == 0:
		return errEmptyBatch(entryType)
	case n > maxBatchEntries:
		return errTooManyEntries(n)
	}
	seen := make(map[string]bool, len(entries))
	for i := range entries {
		if !validName(id(&entries[i]), maxEntryID) {
			return errEntryID()
		}
	}
	for i := range entries {
		id := id(&entries[i])
		if seen[id] {
			return errEntryIDRepeated(id)
		}
		seen[id] = true
	}
	return nil
}

// entryParameter is what Query calls a member of the entry with index i.
func entryParameter(entryType string, i int, member string) string {
	return fmt.Sprintf("%s.%d.%s", entryType, i+1, member)
}

// batchResult is the success of one entry of a batch that has nothing to say.
type batchResult struct {
	Id string
}

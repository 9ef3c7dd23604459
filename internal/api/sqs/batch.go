package sqs

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

const (
	maxBatchEntries = 10
	maxEntryID      = 80
)

// batchError is the failure of one entry of a batch. Other entries may have succeeded.
type batchError struct {
	Id          string
	SenderFault bool
	Code        string
	Message     string `json:",omitempty"`
}

// batchResult is the success of an entry without further results.
type batchResult struct {
	Id string
}

// batchOutput is the answer to a batch whose entries have no other results.
type batchOutput struct {
	Successful []batchResult
	Failed     []batchError
}

func failed(id string, err error) batchError {
	e := protocol.AsError(err)
	return batchError{Id: id, SenderFault: e.Fault() == "Sender", Code: e.Code, Message: e.Message}
}

// checkEntries refuses a batch because of the number or the ids of its entries.
func checkEntries[E any](entryType string, entries []E, id func(*E) string) error {
	switch n := len(entries); {
	case n == 0:
		return errEmptyBatch(entryType)
	case n > maxBatchEntries:
		return errTooManyEntries(n)
	}
	for i := range entries {
		if !service.ValidName(id(&entries[i]), maxEntryID) {
			return errEntryID()
		}
	}
	for i := range entries {
		for j := range i { // at most ten entries
			if own := id(&entries[i]); own == id(&entries[j]) {
				return errEntryIDRepeated(own)
			}
		}
	}
	return nil
}

// receiptBatch is a batch on received messages: how an entry E becomes an argument A of the engine's.
type receiptBatch[E, A any] struct {
	entryType string
	id        func(*E) string
	argument  func(i int, e *E) (A, error)
	run       func([]A) ([]error, error) // with a result for each argument
	refusal   func(err error, e *E) error
}

// do runs a batch. An invalid entry does not prevent the others. An error means that none was run.
func (b *receiptBatch[E, A]) do(c *protocol.Call, entries []E) (*batchOutput, error) {
	if err := checkEntries(b.entryType, entries, b.id); err != nil {
		return nil, err
	}
	var out batchOutput
	arguments, accepted := make([]A, 0, len(entries)), make([]*E, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		a, err := b.argument(i, e)
		if err != nil {
			out.Failed = append(out.Failed, failed(b.id(e), err))
			continue
		}
		arguments, accepted = append(arguments, a), append(accepted, e)
	}
	if len(arguments) > 0 {
		results, err := b.run(arguments)
		if err != nil {
			return nil, err
		}
		out.Successful = make([]batchResult, 0, len(accepted))
		for i, e := range accepted {
			if results[i] != nil {
				out.Failed = append(out.Failed, failed(b.id(e), b.refusal(results[i], e)))
				continue
			}
			out.Successful = append(out.Successful, batchResult{Id: b.id(e)})
		}
	}
	noteCount(c, len(out.Successful))
	noteFailures(c, len(out.Failed))
	return &out, nil
}

// entryParameter returns Query's name of a member of the entry with index i.
func entryParameter(entryType string, i int, member string) string {
	return fmt.Sprintf("%s.%d.%s", entryType, i+1, member)
}

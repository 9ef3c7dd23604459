package tenant

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// Subject is an account, or one of its users.
type Subject struct {
	Account string
	User    string // its unique id; empty: the account
}

// Limits holds the limits of a subject by kind. A missing kind is unlimited.
type Limits map[Kind]int64

// record is the stored form of Limits.
type record struct {
	Limits map[string]int64
}

func (l *Limits) encode() []byte {
	r := record{make(map[string]int64, len(*l))}
	for k, n := range *l {
		r.Limits[k.String()] = n
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings and numbers
	}
	return b
}

var errRecord = errors.New("it is not a record of limits")

// decodeLimits decodes a record. It omits kinds that only newer programs know.
func decodeLimits(_ Subject, b []byte) (*Limits, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil || r.Limits == nil {
		return nil, errors.Join(errRecord, err)
	}
	l := make(Limits, len(r.Limits))
	for name, n := range r.Limits {
		k, ok := ParseKind(name)
		switch {
		case !ok:
		case n < k.Least() || n > MaxLimit:
			return nil, fmt.Errorf("%s is %d: %w", name, n, errRecord)
		default:
			l[k] = n
		}
	}
	return &l, nil
}

// with returns l with other limits replacing its own.
func (l Limits) with(other Limits) Limits {
	out := maps.Clone(l)
	if out == nil {
		out = make(Limits, len(other))
	}
	maps.Copy(out, other)
	return out
}

// without returns l without the limits of some kinds, or of all if none are named.
func (l Limits) without(kinds []Kind) Limits {
	if len(kinds) == 0 {
		return nil
	}
	out := maps.Clone(l)
	for _, k := range kinds {
		delete(out, k)
	}
	return out
}

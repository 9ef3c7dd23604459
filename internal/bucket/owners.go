package bucket

import (
	"fmt"
	"slices"
	"strings"
)

// Owners lists which accounts' trails may write to a bucket. If it names no bucket, all accounts may write to all
// buckets. Otherwise, a bucket that it does not name is closed to all.
type Owners map[string][]string

// ParseOwners parses a list of texts such as audit=111122223333. A bucket shared by several accounts is named several
// times.
func ParseOwners(list []string, isAccount func(string) bool) (Owners, error) {
	out := make(Owners)
	for _, text := range list {
		name, account, ok := strings.Cut(text, "=")
		if !ok || !isAccount(account) {
			return nil, fmt.Errorf("%q: want the name of a bucket, = and an account of the server, such as audit=111122223333", text)
		}
		if err := CheckName(name); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		out[name] = append(out[name], account)
	}
	return out, nil
}

// Check returns an error that wraps ErrDenied if the trails of an account may not write to a bucket.
func (o Owners) Check(name, account string) error {
	if len(o) == 0 || slices.Contains(o[name], account) {
		return nil
	}
	return fmt.Errorf("%w: the operator has not given it to account %s", ErrDenied, account)
}

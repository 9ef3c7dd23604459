package iam

import (
	"encoding/base64"
	"slices"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// page is a part of a list.
type page[T any] struct {
	items     []T
	truncated bool
	marker    string // of the next page
}

const (
	defaultItems = 100
	mostItems    = 1000
)

// paginate returns the part of all, which is sorted by key, that comes after the
// marker. The marker is the last key of the page before, so that a list may
// change between two pages.
func paginate[T any](all []T, key func(T) string, marker *string, maxItems *int32) (page[T], error) {
	var v protocol.Violations
	v.Range("maxItems", maxItems, 1, mostItems)
	if err := v.Err(); err != nil {
		return page[T]{}, err
	}
	if marker != nil {
		after, err := base64.RawURLEncoding.Strict().DecodeString(*marker)
		if err != nil || len(after) == 0 {
			return page[T]{}, protocol.ValidationError("Invalid Marker.")
		}
		i, found := slices.BinarySearchFunc(all, string(after), func(item T, after string) int {
			if k := key(item); k != after {
				if k < after {
					return -1
				}
				return 1
			}
			return 0
		})
		if found {
			i++
		}
		all = all[i:]
	}
	n := defaultItems
	if maxItems != nil {
		n = int(*maxItems)
	}
	if len(all) <= n {
		return page[T]{items: all}, nil
	}
	last := key(all[n-1])
	return page[T]{items: all[:n], truncated: true, marker: base64.RawURLEncoding.EncodeToString([]byte(last))}, nil
}

// convert returns what f makes of each item; it is never nil.
func convert[A, B any](items []A, f func(A) B) []B {
	out := make([]B, len(items))
	for i, item := range items {
		out[i] = f(item)
	}
	return out
}

func filter[T any](items []T, keep func(T) bool) []T {
	return slices.DeleteFunc(items, func(item T) bool { return !keep(item) })
}

package service

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
)

// Page is a part of a list.
type Page[T any] struct {
	Items []T
	Next  string // token of the next page; empty: this is the last one
}

// The reasons why a token was refused.
var (
	ErrToken     = errors.New("the token of the page cannot be read")
	ErrOtherList = errors.New("the token is for a page of another list")
)

// Paginate returns the page of all, which is sorted by key, that follows the page with this token: the first one if it
// is empty. It has at most most items. The token holds the last key of the previous page, so that the list may change
// between two pages, and about, the subject of the list, which must not. Keys and about contain no NUL.
func Paginate[T any](all []T, key func(T) string, token, about string, most int) (Page[T], error) {
	return Seek(Reading(all, key), key, token, about, most)
}

// Reading returns the argument of Seek for a list that was read whole.
func Reading[T any](all []T, key func(T) string) func(after string, most int) []T {
	return func(after string, _ int) []T {
		i, found := slices.BinarySearchFunc(all, after, func(item T, after string) int {
			return strings.Compare(key(item), after)
		})
		if found && after != "" {
			i++
		}
		return all[i:]
	}
}

// Seek is Paginate for a list that need not be read whole. read returns the first items whose keys follow after, or of
// the list if after is empty. It returns at least most of them, if there are that many.
func Seek[T any](
	read func(after string, most int) []T, key func(T) string, token, about string, most int,
) (Page[T], error) {
	after, err := keyOf(token, about)
	if err != nil {
		return Page[T]{}, err
	}
	items := read(after, most+1) // one more, to know whether there is another page
	if len(items) <= most {
		return Page[T]{Items: items}, nil
	}
	next := key(items[most-1]) + "\x00" + about
	return Page[T]{Items: items[:most], Next: base64.StdEncoding.EncodeToString([]byte(next))}, nil
}

// keyOf returns the key in the token of a page: the last one of the previous page, or none if the token is empty.
func keyOf(token, about string) (string, error) {
	if token == "" {
		return "", nil
	}
	text, err := decodeToken(token)
	last, was, ok := strings.Cut(text, "\x00")
	switch {
	case err != nil || !ok || last == "":
		return "", ErrToken
	case was != about:
		return "", ErrOtherList
	}
	return last, nil
}

// decodeToken takes the tokens of earlier versions, too, which had the alphabet for URLs and no padding.
func decodeToken(token string) (string, error) {
	text, err := base64.StdEncoding.Strict().DecodeString(token)
	if err != nil {
		text, err = base64.RawURLEncoding.Strict().DecodeString(token)
	}
	return string(text), err
}

// Convert applies f to each item. The result is never nil, so an empty list appears as an empty list.
func Convert[A, B any](items []A, f func(A) B) []B {
	out := make([]B, len(items))
	for i, item := range items {
		out[i] = f(item)
	}
	return out
}

// Filter returns the items that satisfy keep. It changes its argument.
func Filter[T any](items []T, keep func(T) bool) []T {
	return slices.DeleteFunc(items, func(item T) bool { return !keep(item) })
}

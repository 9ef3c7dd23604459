// Package bucket stores objects, such as the files of trails: in directories of this machine, or in a store that speaks
// Amazon S3.
//
// # What is guaranteed
//
//   - When Put returns nil, the whole object is durable. It replaces one of the same key, and no reader sees a part of
//     it.
//   - Names of buckets are checked, and keys as well: nothing outside of the directory is read or written, for any
//     names and wherever symbolic links point.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Why an object cannot be stored or read.
var (
	// ErrNoBucket reports that there is no such bucket.
	ErrNoBucket = errors.New("there is no such bucket")
	// ErrNoObject reports that the bucket has no such object.
	ErrNoObject = errors.New("there is no such object")
	// ErrDenied reports that the server may not use the bucket.
	ErrDenied = errors.New("the server may not use the bucket")
)

// Object is an object with its metadata.
type Object struct {
	Body     []byte
	Metadata map[string]string // names are in lower case
}

// Store holds buckets. Its methods are safe for concurrent use.
type Store interface {
	// Find returns nil if a bucket of that name exists, ErrNoBucket if not, ErrDenied if the server may not use it, or
	// another error if that is unknown.
	Find(ctx context.Context, bucket string) error
	// Put stores an object.
	Put(ctx context.Context, bucket, key string, o Object) error
	// Get returns an object, or ErrNoObject.
	Get(ctx context.Context, bucket, key string) (Object, error)
	// List returns the keys that begin with a prefix, in order.
	List(ctx context.Context, bucket, prefix string) ([]string, error)
}

// maxKey is the maximum length of a key in bytes, as in S3.
const maxKey = 1024

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// CheckName returns an error that describes a mistake in the name of a bucket.
func CheckName(name string) error {
	switch {
	case len(name) < 3 || len(name) > 63:
		return fmt.Errorf("it has %d characters, and the name of a bucket has 3 to 63", len(name))
	case !names.MatchString(name):
		return errors.New(
			"the name of a bucket has lower case letters, digits, dots and hyphens, and begins and ends with a letter or digit",
		)
	case strings.Contains(name, ".."):
		return errors.New("the name of a bucket has no two dots side by side")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return errors.New("the name of a bucket does not look like an IP address")
	}
	return nil
}

// CheckKey returns an error that describes a mistake in the key of an object, which must also be a path.
func CheckKey(key string) error {
	switch {
	case key == "" || len(key) > maxKey:
		return fmt.Errorf("a key has 1 to %d bytes", maxKey)
	case !utf8.ValidString(key) ||
		strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }):
		return errors.New("a key has no control characters, backslashes or colons")
	case key != path.Clean(key) || strings.HasPrefix(key, "/") || key == "." || key == ".." ||
		strings.HasPrefix(key, "../"):
		return errors.New("a key has no empty parts, and none that are . or ..")
	}
	for part := range strings.SplitSeq(key, "/") {
		if len(part) > 255-len(metadataSuffix) {
			return errors.New("a part of a key is too long for the name of a file")
		}
	}
	return nil
}

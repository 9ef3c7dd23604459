package bucket

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// ErrExists reports that an object to create exists already.
var ErrExists = errors.New("the object already exists")

// Content is the content of a new object. It is read once for each attempt.
type Content struct {
	Size   int64
	SHA256 [sha256.Size]byte
	Open   func() (io.ReadCloser, error)
}

// Listed is an object in a list.
type Listed struct {
	Key  string
	Size int64 // bytes
}

// Place is a part of a bucket, or a directory, with a single purpose. Its objects can be larger than the memory. Its
// methods are safe for concurrent use.
type Place interface {
	// List returns the objects whose keys begin with a prefix, in order of their keys.
	List(ctx context.Context, prefix string) ([]Listed, error)
	// Open returns the content of an object, or ErrNoObject. Reading ends with ctx.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Put stores an object, and replaces one with the same key. When it returns nil, the whole object is durable, with
	// the digest of the content.
	Put(ctx context.Context, key string, c *Content) error
	// Create stores an object as Put does, or returns ErrExists. Of several simultaneous calls for the same object, one
	// succeeds. After a retry, a call can get ErrExists for its own object.
	Create(ctx context.Context, key string, body []byte) error
	// Delete removes objects. A missing object is no error. After an error, some may be removed.
	Delete(ctx context.Context, keys ...string) error
	// Clean removes the remains of an interrupted Put or Create. Nothing may be stored meanwhile.
	Clean(ctx context.Context) error
	Close() error
}

// IsPlace reports whether a text is the URL of a Place rather than the name of a file.
func IsPlace(text string) bool {
	return strings.HasPrefix(text, "s3://") || strings.HasPrefix(text, "file://")
}

// address is a parsed URL of a Place.
type address struct {
	directory        string // of a URL with file:, as all below empty
	bucket, prefix   string
	endpoint, region string // empty: from the environment
}

// parsePlace reads the URL of a Place.
func parsePlace(text string) (address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return address{}, fmt.Errorf("%q is no URL: %w", text, err)
	}
	switch {
	case u.Scheme == "file" && u.Host == "" && u.RawQuery == "" && filepath.IsAbs(filepath.FromSlash(u.Path)):
		return address{directory: filepath.FromSlash(u.Path)}, nil
	case u.Scheme == "s3" && u.User == nil && u.Fragment == "":
		return parseS3Place(u)
	}
	return address{}, fmt.Errorf("%q: want file:///DIRECTORY or s3://BUCKET/PREFIX", text)
}

// parseS3Place parses the URL of a part of a bucket. Its parameters have the names that other libraries use.
func parseS3Place(u *url.URL) (address, error) {
	a := address{bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	if err := CheckName(a.bucket); err != nil {
		return a, fmt.Errorf("the bucket %q: %w", a.bucket, err)
	}
	if a.prefix != "" {
		if err := CheckKey(a.prefix); err != nil {
			return a, fmt.Errorf("the prefix %q: %w", a.prefix, err)
		}
		a.prefix += "/"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return a, fmt.Errorf("the parameters of the URL: %w", err)
	}
	for name, values := range query {
		switch {
		case name == "region" && len(values) == 1:
			a.region = values[0]
		case name == "endpoint" && len(values) == 1:
			e, err := url.Parse(values[0])
			switch {
			case err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "":
				return a, fmt.Errorf("endpoint=%s: want a URL such as https://s3.example.com", values[0])
			case e.User != nil: // logs and the status have the URL of a Place
				return a, errors.New("endpoint: a URL with a password; the keys come from where AWS's SDKs look")
			}
			a.endpoint = values[0]
		default:
			return a, fmt.Errorf("the parameter %s: the URL of a bucket has endpoint and region, each once", name)
		}
	}
	return a, nil
}

// CheckPlace returns an error that describes a mistake in the URL of a Place.
func CheckPlace(text string) error {
	_, err := parsePlace(text)
	return err
}

// OpenPlace opens the Place at a URL: file:///DIRECTORY, which is created if it is missing and create is true, or
// s3://BUCKET/PREFIX. The latter may have the parameters endpoint, the URL of the service, and region; otherwise these
// come from AWS_ENDPOINT_URL_S3 and from where AWS's SDKs look for the region. The keys come from there as well.
// OpenPlace does not contact the service yet.
func OpenPlace(ctx context.Context, text string, create bool) (Place, error) {
	a, err := parsePlace(text)
	if err != nil {
		return nil, err
	}
	if a.directory == "" {
		return openS3Place(ctx, &a)
	}
	if create {
		if err := os.MkdirAll(a.directory, 0o700); err != nil {
			return nil, err
		}
	}
	return openDirectoryPlace(a.directory)
}

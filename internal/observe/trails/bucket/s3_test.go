package bucket_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/trails/bucket"
	"github.com/sluicemq/sluice/internal/proof/s3service"
)

// Objects are stored, read and listed in a service that speaks S3, and its refusals are understood.
func TestS3(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds an S3 service")
	}
	buckets := t.TempDir()
	if err := os.Mkdir(filepath.Join(buckets, "audit"), 0o755); err != nil {
		t.Fatal(err)
	}
	endpoint := s3service.Start(t, buckets)
	open := func(secret string) *bucket.S3 {
		t.Setenv("AWS_ACCESS_KEY_ID", "user")
		t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
		t.Setenv("AWS_CONFIG_FILE", "/nowhere")
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
		t.Setenv("AWS_REGION", "")
		s, err := bucket.OpenS3(t.Context(), endpoint)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s, ctx := open("password"), t.Context()
	signed := bucket.Object{Body: []byte("two"), Metadata: map[string]string{"signature": "abc", "signature-algorithm": "SHA256withRSA"}}
	for key, o := range map[string]bucket.Object{"AWSLogs/1/a.json.gz": {Body: []byte("one")}, "AWSLogs/1/b.json.gz": signed, "AWSLogs/2/c.json.gz": {}} {
		for range 2 {
			if err := s.Put(ctx, "audit", key, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	o, err := s.Get(ctx, "audit", "AWSLogs/1/b.json.gz")
	if err != nil || string(o.Body) != "two" || !maps.Equal(o.Metadata, signed.Metadata) {
		t.Errorf("got %+v, %v", o, err)
	}
	keys, err := s.List(ctx, "audit", "AWSLogs/1/")
	if err != nil || !slices.Equal(keys, []string{"AWSLogs/1/a.json.gz", "AWSLogs/1/b.json.gz"}) {
		t.Errorf("listed are %v, %v", keys, err)
	}
	for name, c := range map[string]struct{ err, want error }{
		"a bucket":                  {s.Find(ctx, "audit"), nil},
		"no bucket":                 {s.Find(ctx, "nowhere"), bucket.ErrNoBucket},
		"no name":                   {s.Find(ctx, "../x"), bucket.ErrNoBucket},
		"no bucket to store in":     {s.Put(ctx, "nowhere", "a", o), bucket.ErrNoBucket},
		"no object":                 {second(s.Get(ctx, "audit", "AWSLogs/1/z")), bucket.ErrNoObject},
		"a bucket of another":       {open("wrong").Find(ctx, "audit"), bucket.ErrDenied},
		"to store with a wrong key": {open("wrong").Put(ctx, "audit", "a", o), bucket.ErrDenied},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

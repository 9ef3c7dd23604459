package bucket_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/proof/s3service"
)

func openS3(t *testing.T, endpoint, secret string) *bucket.S3 {
	t.Helper()
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

// Objects are stored, read and listed in a service that speaks S3, and its refusals are recognized.
func TestS3(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds an S3 service")
	}
	buckets := t.TempDir()
	if err := os.Mkdir(filepath.Join(buckets, "audit"), 0o755); err != nil {
		t.Fatal(err)
	}
	endpoint := s3service.Start(t, buckets)
	s, ctx := openS3(t, endpoint, "password"), t.Context()
	signed := bucket.Object{
		Body: []byte("two"), Metadata: map[string]string{"signature": "abc", "signature-algorithm": "SHA256withRSA"},
	}
	for key, o := range map[string]bucket.Object{
		"AWSLogs/1/a.json.gz": {Body: []byte("one")}, "AWSLogs/1/b.json.gz": signed, "AWSLogs/2/c.json.gz": {},
	} {
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
		"a bucket of another":       {openS3(t, endpoint, "wrong").Find(ctx, "audit"), bucket.ErrDenied},
		"to store with a wrong key": {openS3(t, endpoint, "wrong").Put(ctx, "audit", "a", o), bucket.ErrDenied},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A list may have many pages, and keys any allowed characters.
func TestS3ListsPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds an S3 service")
	}
	buckets := t.TempDir()
	if err := os.Mkdir(filepath.Join(buckets, "audit"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := openS3(t, s3service.Start(t, buckets), "password")
	want := []string{"a b+c!'(x)*@=&,;$~ü.gz"}
	for i := range 1010 {
		want = append(want, fmt.Sprintf("b/%04d", i))
	}
	for _, key := range want {
		if err := s.Put(t.Context(), "audit", key, bucket.Object{Body: []byte(key)}); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
	}
	if got, err := s.List(t.Context(), "audit", ""); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d keys, %v", len(got), err)
	}
	if o, err := s.Get(t.Context(), "audit", want[0]); err != nil || string(o.Body) != want[0] {
		t.Errorf("%q, %v", o.Body, err)
	}
}

// A request to a service that fails is repeated. One that is refused is not.
func TestS3IsAskedAgain(t *testing.T) {
	var status []int
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status[0])
		status = status[1:]
	}))
	defer service.Close()
	s := openS3(t, service.URL, "password")
	for _, c := range []struct {
		answers []int
		left    int
		want    error
	}{
		{[]int{503, 500, 200}, 0, nil},
		{[]int{404, 200}, 1, bucket.ErrNoBucket},
		{[]int{403, 200}, 1, bucket.ErrDenied},
	} {
		status = c.answers
		if err := s.Find(t.Context(), "audit"); !errors.Is(err, c.want) || len(status) != c.left {
			t.Errorf("%v: %v, %d answers left", c.answers, err, len(status))
		}
	}
	status = []int{500, 502, 503, 504}
	if err := s.Find(t.Context(), "audit"); err == nil || len(status) != 1 {
		t.Errorf("%v, %d answers left", err, len(status))
	}
}

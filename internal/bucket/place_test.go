package bucket_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/proof/s3service"
)

func openPlace(t *testing.T, at string) bucket.Place {
	t.Helper()
	p, err := bucket.OpenPlace(t.Context(), at, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// s3Keys sets the keys of the service in AWS's SDK's environment.
func s3Keys(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", s3service.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3service.Secret)
	t.Setenv("AWS_CONFIG_FILE", "/nowhere")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
	t.Setenv("AWS_REGION", "")
}

func content(text string) *bucket.Content {
	return &bucket.Content{
		Size: int64(len(text)), SHA256: sha256.Sum256([]byte(text)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
	}
}

func read(t *testing.T, p bucket.Place, key string) (string, error) {
	t.Helper()
	f, err := p.Open(t.Context(), key)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(f)
	return string(text), errors.Join(err, f.Close())
}

func keys(t *testing.T, p bucket.Place, prefix string) string {
	t.Helper()
	list, err := p.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range list {
		out = append(out, fmt.Sprintf("%s:%d", o.Key, o.Size))
	}
	return strings.Join(out, " ")
}

// checkPlace checks the properties of every Place, which must be empty.
func checkPlace(t *testing.T, p bucket.Place) {
	t.Helper()
	ctx := t.Context()
	for _, err := range []error{
		p.Put(ctx, "objects/b", content("two")), p.Put(ctx, "objects/b", content("three")),
		p.Put(ctx, "objects/a", content("")),
		p.Create(ctx, "owner", []byte("me")), p.Delete(ctx, "objects/none"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := p.Create(ctx, "owner", []byte("you")); !errors.Is(err, bucket.ErrExists) {
		t.Errorf("an object was created twice: %v", err)
	}
	lying := content("five!")
	lying.SHA256[0]++
	if err := p.Put(ctx, "objects/c", lying); err == nil {
		t.Error("an object with another digest was stored")
	}
	if text, err := read(t, p, "objects/b"); err != nil || text != "three" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := read(t, p, "owner"); err != nil || text != "me" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := read(t, p, "objects/c"); !errors.Is(err, bucket.ErrNoObject) {
		t.Errorf("a missing object: %v", err)
	}
	if got := keys(t, p, ""); got != "objects/a:0 objects/b:5 owner:2" {
		t.Errorf("it has %s", got)
	}
	if err := p.Delete(ctx, "objects/a"); err != nil {
		t.Error(err)
	}
	if got := keys(t, p, "objects/"); got != "objects/b:5" {
		t.Errorf("it has %s", got)
	}
	many := []string{"many/none"}
	for i := range 5 {
		many = append(many, fmt.Sprintf("many/%d <&> ü", i))
		if err := p.Put(ctx, many[i+1], content("x")); err != nil {
			t.Error(err)
		}
	}
	if err := p.Delete(ctx, append(many, "objects/none")...); err != nil {
		t.Error(err)
	}
	if got := keys(t, p, ""); got != "objects/b:5 owner:2" {
		t.Errorf("it has %s", got)
	}
	for _, key := range []string{"", "../x", "/x", "a/../../x"} {
		if p.Delete(ctx, "objects/none", key) == nil {
			t.Errorf("%q is a key", key)
		}
		if p.Put(ctx, key, content("x")) == nil || p.Create(ctx, key, nil) == nil || p.Delete(ctx, key) == nil {
			t.Errorf("%q is a key", key)
		}
	}
	checkRace(t, p)
}

// checkRace creates the same object several times at once: one call succeeds.
func checkRace(t *testing.T, p bucket.Place) {
	t.Helper()
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() { errs[i] = p.Create(t.Context(), "race", fmt.Appendf(nil, "%d", i)) })
	}
	all.Wait()
	won := slices.Index(errs, nil)
	text, err := read(t, p, "race")
	if won < 0 || err != nil || text != fmt.Sprint(won) {
		t.Fatalf("%v; it has %q, %v", errs, text, err)
	}
	for i, err := range errs {
		if i != won && !errors.Is(err, bucket.ErrExists) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestPlaceInDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "here")
	if _, err := bucket.OpenPlace(t.Context(), "file://"+filepath.ToSlash(dir), false); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	p := openPlace(t, "file://"+filepath.ToSlash(dir))
	checkPlace(t, p)
	left := filepath.Join(dir, "objects", ".b.12345678")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, p, "objects/"); got != "objects/b:5" {
		t.Errorf("it has %s", got)
	}
	if err := p.Clean(t.Context()); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "objects"))
	if err != nil || len(entries) != 1 {
		t.Errorf("after cleaning: %v, %v", entries, err)
	}
}

func TestPlaceInS3(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds an S3 service")
	}
	s3Keys(t)
	buckets := t.TempDir()
	if err := os.Mkdir(filepath.Join(buckets, "backups"), 0o755); err != nil {
		t.Fatal(err)
	}
	endpoint := s3service.Start(t, buckets)
	t.Setenv("AWS_REGION", "eu-central-1") // which this service refuses
	checkPlace(t, openPlace(t, "s3://backups/a/b?region=us-east-1&endpoint="+url.QueryEscape(endpoint)))
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_ENDPOINT_URL_S3", endpoint)
	checkPlace(t, openPlace(t, "s3://backups/other"))
	if _, err := openPlace(t, "s3://nowhere").List(t.Context(), ""); !errors.Is(err, bucket.ErrNoBucket) {
		t.Errorf("a missing bucket: %v", err)
	}
}

// A failed request is sent again with all of its content.
func TestPlaceInS3SendsAgain(t *testing.T) {
	s3Keys(t)
	var bodies []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if bodies = append(bodies, string(b)); len(bodies) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer service.Close()
	p := openPlace(t, "s3://backups?endpoint="+url.QueryEscape(service.URL))
	if err := p.Put(t.Context(), "a", content("text")); err != nil || !slices.Equal(bodies, []string{"text", "text"}) {
		t.Errorf("%v, sent %q", err, bodies)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Put(ctx, "a", content("text")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// deleting is a service that removes objects, many in one request if it supports that.
type deleting struct {
	many     bool
	refuses  string // the key of an object that it does not remove
	requests []string
	removed  int
}

func (d *deleting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.requests = append(d.requests, r.Method)
	if r.Method == http.MethodDelete {
		d.removed++
		w.WriteHeader(http.StatusNoContent)
		return
	}
	text, _ := io.ReadAll(r.Body)
	sum := md5.Sum(text)
	switch {
	case !d.many:
		w.WriteHeader(http.StatusNotImplemented)
	case !r.URL.Query().Has("delete") || r.Header.Get("Content-Md5") != base64.StdEncoding.EncodeToString(sum[:]):
		w.WriteHeader(http.StatusBadRequest)
	case d.refuses != "" && strings.Contains(string(text), "<Key>"+d.refuses+"</Key>"):
		fmt.Fprintf(w, "<DeleteResult><Error><Key>%s</Key><Code>AccessDenied</Code></Error></DeleteResult>", d.refuses)
	default:
		d.removed += strings.Count(string(text), "<Key>p/")
		fmt.Fprint(w, "<DeleteResult></DeleteResult>")
	}
}

// Many objects are removed with few requests, or one by one where the service supports nothing else.
func TestPlaceInS3DeletesMany(t *testing.T) {
	s3Keys(t)
	var list []string
	for i := range 1500 {
		list = append(list, fmt.Sprintf("objects/%d", i))
	}
	open := func(d *deleting) bucket.Place {
		service := httptest.NewServer(d)
		t.Cleanup(service.Close)
		return openPlace(t, "s3://backups/p?endpoint="+url.QueryEscape(service.URL))
	}
	d := &deleting{many: true}
	p := open(d)
	err := p.Delete(t.Context(), list...)
	if err != nil || d.removed != 1500 || !slices.Equal(d.requests, []string{"POST", "POST"}) {
		t.Errorf("%v; %d are removed by %v", err, d.removed, d.requests)
	}
	d.refuses = "p/objects/7"
	err = p.Delete(t.Context(), list...)
	if !errors.Is(err, bucket.ErrDenied) || !strings.Contains(err.Error(), d.refuses) {
		t.Errorf("a refusal: %v", err)
	}
	d = new(deleting)
	p = open(d)
	for range 2 {
		if err := p.Delete(t.Context(), list[:2]...); err != nil {
			t.Error(err)
		}
	}
	want := []string{"POST", "DELETE", "DELETE", "DELETE", "DELETE"}
	if d.removed != 4 || !slices.Equal(d.requests, want) {
		t.Errorf("%d are removed by %v", d.removed, d.requests)
	}
}

// A service cannot fill the logs with the reason for its refusal.
func TestLongRefusals(t *testing.T) {
	s3Keys(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>no\n%s</Message></Error>", strings.Repeat("ü", 20_000))
	}))
	defer service.Close()
	_, err := openPlace(t, "s3://backups?endpoint="+url.QueryEscape(service.URL)).List(t.Context(), "")
	if !errors.Is(err, bucket.ErrDenied) || len(err.Error()) > 500 || strings.Contains(err.Error(), "\n") {
		t.Errorf("%.600v", err)
	}
}

func TestCheckPlace(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"file:///var/backups": true, "s3://backups": true, "s3://backups/a/b/": true,
		"s3://backups?endpoint=https%3A%2F%2Fs3.example.com&region=a": true,
		"s3://backups?endpoint=http://localhost:9000":                 true,
		"": false, "/var/backups": false, "file://host/backups": false, "file:relative": false, "s3://": false,
		"s3://UPPER":        false,
		"s3://backups/../x": false, "s3://backups?other=1": false, "s3://backups?endpoint=x": false,
		"s3://backups?endpoint=https://user:secret@s3.example.com": false, "s3://user:secret@backups": false,
		"s3://backups?region=a&region=b": false, "https://s3.example.com/backups": false, "s3://backups/%00": false,
	} {
		if err := bucket.CheckPlace(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
	if !bucket.IsPlace("s3://a") || bucket.IsPlace("s3.tar") ||
		!bytes.Contains([]byte(bucket.CheckPlace("").Error()), []byte("s3://BUCKET")) {
		t.Error("an unexpected kind of place")
	}
}

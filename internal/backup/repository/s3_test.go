package repository

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/proof/s3service"
)

// failing stands in front of a service, and makes some requests fail: before the service has them, in the middle, or
// with a lost answer.
func failing(t *testing.T, service string, faults *atomic.Bool) (endpoint string) {
	t.Helper()
	to, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // which is signed
	}}
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !faults.Load() {
			proxy.ServeHTTP(w, r)
			return
		}
		switch n.Add(1) % 7 {
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 4: // half an upload
			_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
			panic(http.ErrAbortHandler)
		case 6: // the answer is lost
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Moments survive a service whose requests fail now and then, at every step.
func TestMomentsInS3(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds an S3 service")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", s3service.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3service.Secret)
	t.Setenv("AWS_CONFIG_FILE", "/nowhere")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
	t.Setenv("AWS_REGION", "")
	buckets := t.TempDir()
	if err := os.Mkdir(filepath.Join(buckets, "backups"), 0o755); err != nil {
		t.Fatal(err)
	}
	var faults atomic.Bool
	endpoint := failing(t, s3service.Start(t, buckets), &faults)
	place, err := bucket.OpenPlace(t.Context(), "s3://backups/sluice?endpoint="+url.QueryEscape(endpoint), true)
	if err != nil {
		t.Fatal(err)
	}
	faults.Store(true)
	h := history(6)
	w := newWriter(place, "a")
	for i := range h {
		w.swept = time.Time{}
		for try := 0; ; try++ {
			if _, err := write(t, w, i, h[i]); err == nil {
				break
			} else if try == 10 {
				t.Fatal(err)
			}
		}
		if err := w.Tidy(t.Context(), timeOf(i), time.Now().Add(time.Hour)); err != nil {
			t.Log(err)
		}
	}
	faults.Store(false)
	got := checkAll(t, place, h)
	if len(got) < 3 || got[len(got)-1] != len(h)-1 {
		t.Errorf("there are %v", got)
	}
	if _, err := write(t, newWriter(place, "b"), 5, h[5]); err == nil {
		t.Error("there are two writers")
	}
}

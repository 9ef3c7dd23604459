package cloudtrail_test

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// served serves the part of a directory of buckets that the AWS CLI reads when it validates a trail.
func served(t *testing.T, dir string) string {
	t.Helper()
	buckets, err := bucket.OpenDirectory(dir)
	apitest.Must(t, 0, err)
	type content struct{ Key string }
	type listing struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		IsTruncated bool
		Contents    []content
	}
	fail := func(w http.ResponseWriter, code string) {
		w.WriteHeader(http.StatusNotFound)
		_ = xml.NewEncoder(w).Encode(struct {
			XMLName xml.Name `xml:"Error"`
			Code    string
		}{Code: code})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if r.URL.Query().Has("location") {
			_, _ = w.Write([]byte(`<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`))
			return
		}
		if key == "" {
			var out listing
			keys, err := buckets.List(r.Context(), name, r.URL.Query().Get("prefix"))
			if err != nil {
				fail(w, "NoSuchBucket")
				return
			}
			for _, k := range keys {
				if k > r.URL.Query().Get("marker") {
					out.Contents = append(out.Contents, content{k})
				}
			}
			_ = xml.NewEncoder(w).Encode(out)
			return
		}
		o, err := buckets.Get(r.Context(), name, key)
		if err != nil {
			fail(w, "NoSuchKey")
			return
		}
		for k, v := range o.Metadata {
			w.Header()["x-amz-meta-"+k] = []string{v} // in lower case, as S3 writes it
		}
		_, _ = w.Write(o.Body)
	}))
	t.Cleanup(func() {
		server.Close()
		_ = buckets.Close()
	})
	return server.URL
}

// The AWS CLI validates the files of a trail, and notices a changed file, a missing file and a missing digest.
func TestValidateLogs(t *testing.T) {
	t.Parallel()
	cli, err := exec.LookPath("aws")
	if err != nil {
		t.Skipf("the AWS CLI is not installed: %v", err)
	}
	a := newAuditor(t)
	ctx := t.Context()
	a.clock.Forward(-204 * time.Minute) // the CLI signs by its own clock
	_, err = a.trail.CreateTrail(ctx, create("all", func(in *cloudtrail.CreateTrailInput) {
		in.EnableLogFileValidation, in.S3KeyPrefix = aws.Bool(true), aws.String("logs")
	}))
	apitest.Must(t, 0, err)
	_, err = a.trail.StartLogging(ctx, &cloudtrail.StartLoggingInput{Name: aws.String("all")})
	apitest.Must(t, 0, err)
	began := a.clock.Now()
	digests := func(n int) {
		t.Helper()
		eventually.True(t, "the digests", func() bool { return len(a.files(t, "CloudTrail-Digest")) == n })
	}
	for i := range 3 {
		if i < 2 {
			_, err := a.root.SQS.CreateQueue(ctx, &sqs.CreateQueueInput{
				QueueName: aws.String([]string{"jobs", "more"}[i]),
			})
			apitest.Must(t, 0, err)
		}
		a.clock.Forward(6 * time.Minute)
		if i < 2 {
			eventually.True(t, "a file", func() bool { return len(a.files(t, "_CloudTrail_")) == i+1 })
		}
		a.clock.Forward(62 * time.Minute)
		digests(i + 1)
	}
	s3 := served(t, a.dir)
	validate := func() (string, error) {
		cmd := exec.CommandContext(ctx, cli, "cloudtrail", "validate-logs", "--trail-arn", arn, "--verbose",
			"--start-time", began.Add(-time.Hour).UTC().Format(time.RFC3339), "--end-time",
			a.clock.Now().UTC().Format(time.RFC3339))
		cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL_CLOUDTRAIL="+a.Endpoint(), "AWS_ENDPOINT_URL_S3="+s3,
			"AWS_REGION=us-east-1",
			"AWS_DEFAULT_REGION=us-east-1", "AWS_ACCESS_KEY_ID="+a.Root().AccessKeyID,
			"AWS_SECRET_ACCESS_KEY="+a.Root().Secret, "AWS_CONFIG_FILE=/nowhere")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := validate(); err != nil || !strings.Contains(out, "3/3 digest files valid") ||
		!strings.Contains(out, "2/2 log files valid") {
		t.Fatalf("validate-logs: %v\n%s", err, out)
	}
	logs, all := a.files(t, "_CloudTrail_"), a.files(t, "CloudTrail-Digest")
	text, err := os.ReadFile(logs[0])
	apitest.Must(t, 0, err)
	apitest.Must(t, 0, os.WriteFile(logs[0], mustRead(t, logs[1]), 0o600))
	if out, err := validate(); err == nil || !strings.Contains(out, "1/2 log files INVALID") {
		t.Errorf("a file was changed: %v\n%s", err, out)
	}
	apitest.Must(t, 0, os.Remove(logs[0]))
	if out, err := validate(); err == nil || !strings.Contains(out, filepath.Base(logs[0])+"\tINVALID: not found") {
		t.Errorf("a file was removed: %v\n%s", err, out)
	}
	apitest.Must(t, 0, os.WriteFile(logs[0], text, 0o600))
	apitest.Must(t, 0, os.Remove(all[1]))
	if out, err := validate(); err == nil || !strings.Contains(out, "1/3 digest files INVALID") {
		t.Errorf("a digest was removed: %v\n%s", err, out)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	return apitest.Must(t, b, err)
}

package command

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/logfile"
)

// Validation finds changed and missing files, and nothing else.
func TestTrailValidity(t *testing.T) {
	t.Parallel()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	keys := map[string]*rsa.PublicKey{"f": &private.PublicKey}
	const account, region = "111122223333", "us-east-1"
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	trail := &shownTrail{
		Name: "all", TrailARN: "arn:aws:cloudtrail:" + region + ":" + account + ":trail/all", HomeRegion: region,
		S3BucketName: "audit",
	}
	var digests, files []string
	dir := t.TempDir()
	must(os.Mkdir(filepath.Join(dir, "audit"), 0o755))
	d, err := bucket.OpenDirectory(dir)
	must(err)
	defer func() { must(d.Close()) }()
	var last *logfile.Link
	for i := range 3 {
		end := noon.Add(time.Duration(i) * time.Hour)
		file, hash := logfile.Encode([][]byte{fmt.Appendf(nil, `{"n":%d}`, i)})
		e := logfile.Entry{Bucket: "audit", Key: logfile.Name("", account, region, end, fmt.Sprint(i)), Hash: hash}
		must(d.Put(t.Context(), "audit", e.Key, bucket.Object{Body: file}))
		key := logfile.DigestName("", account, region, "all", region, end)
		body, link, err := logfile.NewDigest(account, "audit", key, "f", end.Add(-time.Hour), end, last,
			[]logfile.Entry{e}).Seal(private)
		must(err)
		must(d.Put(t.Context(), "audit", key, bucket.Object{Body: body, Metadata: map[string]string{
			logfile.MetadataSignature: link.Signature, logfile.MetadataAlgorithm: logfile.SignatureAlgorithm,
		}}))
		last = &link
		digests, files = append(digests, filepath.Join(dir, "audit", key)),
			append(files, filepath.Join(dir, "audit", e.Key))
	}
	check := func(want ...string) {
		t.Helper()
		v := new(trailValidity)
		must(v.validate(t.Context(), d, trail, keys, noon.Add(-24*time.Hour), noon.Add(24*time.Hour)))
		if len(v.Problems) != len(want) {
			t.Errorf("found %q, want %q", v.Problems, want)
			return
		}
		for i, w := range want {
			if !strings.HasSuffix(v.Problems[i], w) {
				t.Errorf("found %q, want %q", v.Problems, want)
			}
		}
	}
	check()
	other, err := os.ReadFile(files[1])
	must(err)
	whole, err := os.ReadFile(files[0])
	must(err)
	must(os.WriteFile(files[0], other, 0o600))
	check("the file was changed")
	must(os.Remove(files[0]))
	check("the file is missing")
	must(os.WriteFile(files[0], whole, 0o600))
	middle, err := os.ReadFile(digests[1])
	must(err)
	must(os.WriteFile(digests[1], whole, 0o600))
	check("it was moved from where it was delivered")
	must(os.Remove(digests[1]))
	check("the digest is missing")
	must(os.WriteFile(digests[1], middle, 0o600))
	must(os.Remove(digests[0]))
	check("the digest is missing")
	keys = nil
	check(`no public key of fingerprint "f"`, `no public key of fingerprint "f"`)
}

package command

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/logfile"
)

// errNotValid reports that validate has found a mistake.
var errNotValid = errors.New("files of the trail were changed or are missing")

// trailValidity is the answer of trail validate.
type trailValidity struct {
	Digests  int
	Files    int
	Problems []string

	last *logfile.Link // what the last digest says about the one before it
}

func (v *trailValidity) problem(key, format string, args ...any) {
	v.Problems = append(v.Problems, key+": "+fmt.Sprintf(format, args...))
}

func (v *trailValidity) text(w io.Writer) error {
	for _, p := range v.Problems {
		if _, err := fmt.Fprintln(w, p); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "digests: %d, files: %d, problems: %d\n", v.Digests, v.Files, len(v.Problems))
	return err
}

func newTrailValidate(server *clientFlags) *cobra.Command {
	var dir, s3, since, until string
	cmd := &cobra.Command{
		Use:   "validate TRAIL {--dir DIR | --s3-endpoint URL}",
		Short: "Check that the files of a trail are unchanged",
		Long: `Check that the files of a trail, of its home region, are unchanged, by the chain of
digests. The exit status is 1 if something is wrong. Files of the last hour are in no
digest yet.`,
		Example: "  sluice trail validate all --dir /var/lib/sluice-trails --since 7d",
		Args:    arguments("TRAIL"),
	}
	f := cmd.Flags()
	f.StringVar(&dir, "dir", "", "the server's --trail-dir")
	f.StringVar(
		&s3,
		"s3-endpoint",
		"",
		"the server's --trail-s3-endpoint; keys come from where AWS's SDKs look",
	)
	f.StringVar(&since, "since", "24h", "from a time on, such as 2026-11-22T09:00:00Z, or a duration ago, such as 24h or 7d")
	f.StringVar(&until, "until", "", "up to a time")
	directoryPath(f, "dir")
	notWith(f, "s3-endpoint", "dir")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		store, err := openBuckets(ctx, dir, s3)
		if err != nil {
			return nil, err
		}
		now := time.Now()
		from, err := parseTime(since, now)
		if err != nil {
			return nil, usage(err)
		}
		to := now
		if until != "" {
			if to, err = parseTime(until, now); err != nil {
				return nil, usage(err)
			}
		}
		all, err := c.describeTrails(ctx, c.args[0])
		if err != nil {
			return nil, err
		}
		keys, err := c.publicKeys(ctx, from, to)
		if err != nil {
			return nil, err
		}
		v := &trailValidity{Problems: []string{}}
		if err := v.validate(ctx, store, all[0], keys, from, to); err != nil {
			return nil, err
		}
		if len(v.Problems) > 0 {
			return v, errNotValid
		}
		return v, nil
	})
}

func openBuckets(ctx context.Context, dir, s3 string) (bucket.Store, error) {
	switch {
	case dir != "":
		return bucket.OpenDirectory(dir)
	case s3 != "":
		return bucket.OpenS3(ctx, s3)
	}
	return nil, usage(errors.New("--dir or --s3-endpoint is needed, for the place of the buckets"))
}

// publicKeys returns the keys that signed the digests, by their fingerprints.
func (c *client) publicKeys(ctx context.Context, from, to time.Time) (map[string]*rsa.PublicKey, error) {
	var out struct {
		PublicKeyList []struct {
			Fingerprint string
			Value       []byte
		}
	}
	in := map[string]float64{"StartTime": inSeconds(from), "EndTime": inSeconds(to.Add(2 * time.Hour))}
	if err := c.cloudtrail(ctx, "ListPublicKeys", in, &out); err != nil {
		return nil, err
	}
	keys := make(map[string]*rsa.PublicKey)
	for _, k := range out.PublicKeyList {
		key, err := x509.ParsePKCS1PublicKey(k.Value)
		if err != nil {
			return nil, fmt.Errorf("the public key %s cannot be read: %w", k.Fingerprint, err)
		}
		keys[k.Fingerprint] = key
	}
	return keys, nil
}

// validate reads the digests of a trail that end in a time, the newest first.
func (v *trailValidity) validate(
	ctx context.Context,
	store bucket.Store,
	t *shownTrail,
	keys map[string]*rsa.PublicKey,
	from, to time.Time,
) error {
	account := strings.Split(t.TrailARN, ":")[4]
	folder := logfile.DigestFolder(t.S3KeyPrefix, account, t.HomeRegion)
	all, err := store.List(ctx, t.S3BucketName, folder)
	if err != nil {
		return err
	}
	first := logfile.DigestName(t.S3KeyPrefix, account, t.HomeRegion, t.Name, t.HomeRegion, from)
	last := logfile.DigestName(t.S3KeyPrefix, account, t.HomeRegion, t.Name, t.HomeRegion, to.Add(time.Hour))
	ours := fmt.Sprintf("_CloudTrail-Digest_%s_%s_%s_", t.HomeRegion, t.Name, t.HomeRegion)
	all = slices.DeleteFunc(all, func(key string) bool {
		return key < first || key > last || !strings.Contains(key, ours)
	})
	for _, key := range slices.Backward(all) {
		if err := v.digest(ctx, store, t.S3BucketName, key, keys); err != nil {
			return err
		}
	}
	if v.last != nil && v.last.Key >= first {
		v.problem(v.last.Key, "the digest is missing")
	}
	return nil
}

// digest checks a digest and the files that it names.
func (v *trailValidity) digest(
	ctx context.Context, store bucket.Store, name, key string, keys map[string]*rsa.PublicKey,
) error {
	v.Digests++
	for v.last != nil && v.last.Key > key {
		v.problem(v.last.Key, "the digest is missing")
		v.last = nil
	}
	o, err := store.Get(ctx, name, key)
	if err != nil {
		return err
	}
	d, link, err := logfile.Open(o.Body, o.Metadata, name, key, func(f string) *rsa.PublicKey { return keys[f] })
	if err != nil {
		v.problem(key, "%v", err)
		v.last = nil
		return nil
	}
	if v.last != nil && v.last.Key == key && *v.last != link {
		v.problem(key, "it is not the digest that the next one names")
	}
	v.last = d.Before()
	for _, f := range d.Files {
		v.Files++
		if err := v.file(ctx, store, f); err != nil {
			return err
		}
	}
	return nil
}

// file checks a file that a digest names.
func (v *trailValidity) file(ctx context.Context, store bucket.Store, f logfile.Entry) error {
	o, err := store.Get(ctx, f.Bucket, f.Key)
	if errors.Is(err, bucket.ErrNoObject) {
		v.problem(f.Key, "the file is missing")
		return nil
	}
	if err != nil {
		return err
	}
	text, err := logfile.Decompress(o.Body)
	switch {
	case err != nil:
		v.problem(f.Key, "%v", err)
	case logfile.Hash(text) != f.Hash:
		v.problem(f.Key, "the file was changed")
	}
	return nil
}

package trails

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/logfile"
)

const (
	// digestEvery is the period that a digest covers, or a multiple of it when nothing was delivered.
	digestEvery = time.Hour
	// digestDelay is how long after the end of its period a digest is created: the deliveries of other nodes are known
	// by then.
	digestDelay = time.Minute
	// maxDigest is the maximum number of files in a digest.
	maxDigest = 20_000
)

// waitingFile is a file that is in no digest yet, and the key of its record.
type waitingFile struct {
	File
	key string
}

// deliverDigests delivers the due digests of a trail, and begins chains.
func (d *Deliverer) deliverDigests(ctx context.Context, t *Trail, now time.Time) error {
	status := d.Trails.Status(t)
	if t.Validate && t.Logging && status.Chains[t.Region] == nil {
		return d.beginChain(ctx, t, now)
	}
	for _, region := range slices.Sorted(maps.Keys(status.Chains)) {
		for ctx.Err() == nil {
			chain := d.Trails.Status(t).Chains[region]
			if chain == nil || now.Before(chain.End.Add(digestEvery+digestDelay)) {
				break
			}
			if err := d.deliverDigest(ctx, t, region, chain, now); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// beginChain begins the chain of a trail's home region, unless there is one.
func (d *Deliverer) beginChain(ctx context.Context, t *Trail, now time.Time) error {
	return d.Trails.Change(ctx, func(tx *Tx) error {
		was := d.Trails.Status(t)
		s := was.clone()
		if s.Chains[t.Region] == nil {
			s.Chains[t.Region] = &Chain{End: now.UTC().Truncate(time.Second)}
			d.Trails.setStatus(tx, t, s)
		}
		return nil
	})
}

// deliverDigest delivers the next digest of a chain.
func (d *Deliverer) deliverDigest(ctx context.Context, t *Trail, region string, chain *Chain, now time.Time) error {
	files, err := d.files(t, region)
	if err != nil {
		return err
	}
	end := chain.End.Add(digestEvery)
	due := func(f waitingFile) bool { return f.Delivered.Before(end) }
	// While the server was down, nothing was delivered, and one digest covers that time.
	for !slices.ContainsFunc(files, due) && !now.Before(end.Add(digestEvery+digestDelay)) {
		end = end.Add(digestEvery)
	}
	files = slices.DeleteFunc(files, func(f waitingFile) bool { return !due(f) })
	files = files[:min(len(files), maxDigest)]
	key, err := d.Trails.signer(ctx, region, now)
	if err != nil {
		return err
	}
	var entries []logfile.Entry
	for _, f := range files {
		entries = append(entries, f.Entry)
	}
	name := logfile.DigestName(t.Prefix, t.Account, region, t.Name.Name, t.Region, end)
	digest := logfile.NewDigest(t.Account, t.Bucket, name, key.Fingerprint, chain.End, end, chain.Last, entries)
	body, link, err := digest.Seal(key.private)
	if err != nil {
		return err
	}
	o := bucket.Object{Body: body, Metadata: map[string]string{
		logfile.MetadataSignature: link.Signature, logfile.MetadataAlgorithm: logfile.SignatureAlgorithm,
	}}
	if err := d.put(ctx, t, digest.Key, o); err != nil {
		return err
	}
	delivered := &Chain{End: end, Last: &link}
	return d.Trails.Change(ctx, func(tx *Tx) error {
		was := d.Trails.Status(t)
		s := was.clone()
		s.DigestDelivered, s.DigestError = stamp(now), ""
		s.Chains[region] = delivered
		ends, err := d.chainEnds(t, region, len(files))
		if err != nil {
			return err
		}
		if ends {
			delete(s.Chains, region) // a later chain starts over
		}
		if d.Trails.setStatus(tx, t, s) {
			for _, f := range files {
				tx.tx.DeleteRange(f.key, f.key+"\x00")
			}
		}
		return nil
	})
}

// chainEnds reports whether a chain ends with a digest of this many files: the trail wants no more digests, and there
// are no other files, including those recorded while the digest was in transfer.
func (d *Deliverer) chainEnds(t *Trail, region string, named int) (bool, error) {
	if t.Validate && t.Logging {
		return false, nil
	}
	files, err := d.files(t, region)
	return len(files) == named, err
}

// files returns the files of a trail and region that are in no digest.
func (d *Deliverer) files(t *Trail, region string) (out []waitingFile, err error) {
	var failed error
	err = d.Trails.control.Store().Scan([]byte(fileKey(t.ID, 0)), []byte(fileEnd(t.ID)), func(k, v []byte) bool {
		f := waitingFile{key: string(k)}
		if failed = json.Unmarshal(v, &f.File); failed != nil {
			failed = fmt.Errorf("the record of a delivered file cannot be read: %w", failed)
			return false
		}
		if f.Region == region {
			out = append(out, f)
		}
		return true
	})
	if err == nil {
		err = failed
	}
	return out, err
}

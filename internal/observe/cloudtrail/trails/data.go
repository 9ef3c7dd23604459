package trails

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/logfile"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/spool"
)

// dueData returns the trails with data events to deliver from this node, and removes those of deleted trails.
func (d *Deliverer) dueData() (map[uuid.UUID]bool, error) {
	due := make(map[uuid.UUID]bool)
	if d.Spool == nil {
		return due, nil
	}
	var failures []error
	for _, segment := range d.Spool.Due(d.Now(), Every) {
		if due[segment.Trail] || d.Trails.withID(segment.Trail) != nil {
			due[segment.Trail] = true
		} else {
			failures = append(failures, d.Spool.Remove(segment))
		}
	}
	return due, errors.Join(failures...)
}

// serveData delivers the oldest segment of a trail that is due. It reports whether there was one.
func (d *Deliverer) serveData(ctx context.Context, t *Trail, now time.Time) (delivered bool, err error) {
	due := d.Spool.Due(now, Every)
	i := slices.IndexFunc(due, func(s *spool.Segment) bool { return s.Trail == t.ID })
	if i < 0 {
		return false, nil
	}
	if err := d.deliverSegment(ctx, t, due[i], now); err != nil {
		return false, fmt.Errorf("data events: %w", err)
	}
	return true, nil
}

// deliverSegment delivers a segment as one file per region, records that, and removes the segment.
func (d *Deliverer) deliverSegment(ctx context.Context, t *Trail, segment *spool.Segment, now time.Time) error {
	texts, err := d.Spool.Read(segment)
	if err != nil {
		return err
	}
	regions := make(map[string][][]byte)
	entries := make(map[string]*logfile.Entry)
	for _, text := range texts {
		var e trail.Event
		if err := json.Unmarshal(text, &e); err != nil {
			return fmt.Errorf("a data event cannot be read: %w", err)
		}
		region := t.regionOf(&e)
		if entries[region] == nil {
			entries[region] = &logfile.Entry{Bucket: t.Bucket}
		}
		regions[region] = append(regions[region], text)
		entries[region].Include(e.EventTime)
	}
	var files []File
	for _, region := range slices.Sorted(maps.Keys(regions)) {
		entry := entries[region]
		sum := sha256.Sum256([]byte(segment.ID + region))
		entry.Key = logfile.Name(
			t.Prefix, t.Account, region, segment.Began.Add(Every), base32.StdEncoding.EncodeToString(sum[:10]),
		)
		var body []byte
		body, entry.Hash = logfile.Encode(regions[region])
		if err := d.put(ctx, t, entry.Key, bucket.Object{Body: body}); err != nil {
			return err
		}
		files = append(files, File{Trail: t.ID, Region: region, Delivered: stamp(now), Entry: *entry})
	}
	if err := d.noteAnywhere(ctx, files); err != nil {
		return err
	}
	return d.Spool.Remove(segment)
}

// noteAnywhere records files on the node that owns the control store.
func (d *Deliverer) noteAnywhere(ctx context.Context, files []File) error {
	if len(files) == 0 {
		return nil
	}
	err := d.Note(ctx, files)
	if errors.Is(err, control.ErrElsewhere) && d.Send != nil {
		return d.Send(ctx, files)
	}
	return err
}

// Note records files that a node has delivered, and notifies the topics of their trails. On a node that does not own
// the control store it returns control.ErrElsewhere.
func (d *Deliverer) Note(ctx context.Context, files []File) error {
	if d.Trails.control.Elsewhere() {
		return control.ErrElsewhere
	}
	now := d.Now()
	byTrail := make(map[uuid.UUID][]File)
	for _, f := range files {
		f.Delivered = stamp(now) // by the clock of digests
		byTrail[f.Trail] = append(byTrail[f.Trail], f)
	}
	for id, of := range byTrail {
		if t := d.Trails.withID(id); t != nil {
			if err := d.Delivered(ctx, t, of, 0, now); err != nil {
				return err
			}
		}
	}
	return nil
}

package trails

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/logfile"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/spool"
)

const (
	// Every is the period that a file covers.
	Every = 5 * time.Minute
	// settle is the maximum time until an event includes the answer to its call.
	settle = 5 * time.Second
	// maxEvents is the maximum number of events in a file, and maxText their approximate maximum size in bytes.
	maxEvents = 10_000
	maxText   = 16 << 20
	// putTimeout limits a transfer to a bucket, and a publish to a topic.
	putTimeout = 30 * time.Second
	// firstPause is the pause after the first failure. Each further pause is twice as long, up to lastPause.
	firstPause = 5 * time.Second
	lastPause  = 5 * time.Minute
)

// Notifier publishes to topics.
type Notifier interface {
	// Publish publishes a message for a trail, to the topic with an ARN.
	Publish(ctx context.Context, topic, message string, from Name) error
}

// DelivererOptions configures a Deliverer.
type DelivererOptions struct {
	Trails *Trails
	Events *trail.Trail
	Store  bucket.Store // nil: nothing can be delivered
	Owners bucket.Owners
	Topics Notifier
	Spool  *spool.Spool // of data events of this node; nil means none
	// Send passes this node's deliveries to Note on the node that owns the control store. A nil Send means that there
	// is no other node.
	Send func(context.Context, []File) error
	Now  func() time.Time
	Log  *slog.Logger
}

// Deliverer delivers events to the buckets of trails: data events of this node and, while this node owns the control
// store, all others. Trails do not wait for each other's buckets; see turns.
type Deliverer struct {
	DelivererOptions
	turns *turns
	swept time.Time

	mu     sync.Mutex
	pauses map[lane]pause // after failures

	passedOver atomic.Uint64
}

// lane is one of the two kinds of deliveries of a trail. A failure of one does not delay the other.
type lane struct {
	trail uuid.UUID
	data  bool
}

type pause struct {
	length time.Duration
	until  time.Time
}

// after returns the pause after one more failure.
func (p pause) after(now time.Time) pause {
	length := min(max(2*p.length, firstPause), lastPause)
	return pause{length, now.Add(length)}
}

// NewDeliverer returns a deliverer, which is inactive before Run.
func NewDeliverer(o DelivererOptions) *Deliverer {
	return &Deliverer{DelivererOptions: o, turns: newTurns(), pauses: make(map[lane]pause)}
}

// PassedOver returns how many events were removed, as too old or too many, before this node could deliver them.
func (d *Deliverer) PassedOver() uint64 { return d.passedOver.Load() }

// Run delivers until ctx ends.
func (d *Deliverer) Run(ctx context.Context) {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	defer d.turns.wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			d.begin(ctx, func(err error) { d.report(ctx, err) })
		}
	}
}

func (d *Deliverer) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, control.ErrElsewhere) {
		d.Log.Warn("events could not be brought to the buckets of trails", "error", err)
	}
}

// Deliver delivers everything that is due, and returns at the end, with all errors.
func (d *Deliverer) Deliver(ctx context.Context) error {
	var mu sync.Mutex
	var failures []error
	d.begin(ctx, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failures = append(failures, err)
	})
	d.turns.wait()
	return errors.Join(failures...)
}

// begin serves all trails that may have something to deliver. It does not wait for a bucket. It passes the results to
// done, from any goroutine.
func (d *Deliverer) begin(ctx context.Context, report func(error)) {
	data, err := d.dueData()
	report(err)
	elsewhere := d.Trails.control.Elsewhere()
	known := make(map[uuid.UUID]bool)
	for _, t := range d.Trails.list(func(*Trail) bool { return true }) {
		known[t.ID] = true
		if elsewhere && !data[t.ID] {
			continue
		}
		d.turns.add(errand{t.Account, t.ID, func() bool {
			more, err := d.step(ctx, t.ID)
			report(err)
			return more
		}})
	}
	d.forgetPauses(func(l lane) bool { return !known[l.trail] || elsewhere && !l.data })
	if now := d.Now(); !elsewhere && now.Sub(d.swept).Abs() > time.Minute {
		d.swept = now
		report(d.sweep(ctx))
	}
}

// step delivers about one file of a trail, or one of each kind of its events. It reports whether there may be more.
func (d *Deliverer) step(ctx context.Context, id uuid.UUID) (more bool, err error) {
	t := d.Trails.withID(id)
	if t == nil || ctx.Err() != nil {
		return false, nil //nolint:nilerr // the next start does the rest
	}
	var moreData bool
	var failed, failedData error
	if !d.Trails.control.Elsewhere() {
		more, failed = d.attempt(lane{trail: id}, func(now time.Time) (bool, error) { return d.serve(ctx, t, now) })
	}
	if d.Spool != nil {
		of := lane{trail: id, data: true}
		moreData, failedData = d.attempt(of, func(now time.Time) (bool, error) { return d.serveData(ctx, t, now) })
	}
	if err = errors.Join(failed, failedData); err != nil {
		err = fmt.Errorf("trail %s: %w", t.ARN(), err)
	}
	return more || moreData, err
}

// attempt calls f, unless the last failure was too recent.
func (d *Deliverer) attempt(l lane, f func(now time.Time) (more bool, err error)) (more bool, err error) {
	d.mu.Lock()
	was, now := d.pauses[l], d.Now()
	d.mu.Unlock()
	if now.Before(was.until) {
		return false, nil
	}
	more, err = f(now)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.pauses[l] = was.after(d.Now())
		return false, err
	}
	delete(d.pauses, l)
	return more, nil
}

func (d *Deliverer) forgetPauses(of func(lane) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.pauses, func(l lane, _ pause) bool { return of(l) })
}

// serve delivers a due file of a trail, or its digests, and records failures in its status.
func (d *Deliverer) serve(ctx context.Context, t *Trail, now time.Time) (more bool, err error) {
	more, err = d.deliverEvents(ctx, t, now)
	if failed := d.noteFailure(
		ctx, t, err, func(s *Status) (*string, *time.Time) { return &s.Error, &s.Attempted }, now,
	); failed != nil {
		return false, failed
	}
	if more {
		return true, nil
	}
	digestErr := d.deliverDigests(ctx, t, now)
	failed := d.noteFailure(
		ctx, t, digestErr, func(s *Status) (*string, *time.Time) { return &s.DigestError, nil }, now,
	)
	return false, errors.Join(err, digestErr, failed)
}

// noteFailure records in the status of a trail why a delivery has failed, unless it is recorded already.
func (d *Deliverer) noteFailure(
	ctx context.Context,
	t *Trail,
	failure error,
	field func(*Status) (*string, *time.Time),
	now time.Time,
) error {
	ended := ctx.Err() != nil || errors.Is(failure, control.ErrElsewhere) || errors.Is(failure, control.ErrUnavailable)
	if failure == nil || ended {
		return nil
	}
	code := codeOf(failure)
	was := d.Trails.Status(t)
	if text, _ := field(&was); *text == code {
		return nil
	}
	return d.Trails.Change(ctx, func(tx *Tx) error {
		was := d.Trails.Status(t)
		s := was.clone()
		text, at := field(s)
		if *text = code; at != nil {
			*at = stamp(now)
		}
		d.Trails.setStatus(tx, t, s)
		return nil
	})
}

// codeOf returns the description of a failure for the owner of a trail, in S3's words. The log has the details.
func codeOf(err error) string {
	switch {
	case errors.Is(err, bucket.ErrNoBucket):
		return "NoSuchBucket"
	case errors.Is(err, bucket.ErrDenied):
		return "AccessDenied"
	case errors.Is(err, context.DeadlineExceeded):
		return "RequestTimeout"
	}
	return "ServiceUnavailable"
}

// deliverEvents delivers a batch of events of a trail that have waited long enough. It reports whether there was one.
func (d *Deliverer) deliverEvents(ctx context.Context, t *Trail, now time.Time) (delivered bool, err error) {
	oldest, ok, err := d.Events.Oldest(t.ID)
	if err != nil || !ok {
		return false, err
	}
	end := oldest.Add(Every)
	if now.Before(end.Add(settle)) && oldest.Before(now.Add(Every)) {
		return false, nil
	}
	batch, lost, last, err := d.Events.Outbox(t.ID, maxEvents, maxText, end)
	if err != nil || last == 0 {
		return false, err
	}
	if lost > 0 {
		d.Log.Warn("events were removed as too old or too many before they could be brought to the bucket of a trail",
			"trail", t.ARN(), "events", lost)
	}
	if err := d.deliverBatch(ctx, t, batch, last, end, now); err != nil {
		return false, err
	}
	d.passedOver.Add(uint64(lost))
	return true, nil
}

// deliverBatch delivers events as one file per region, and removes them from the outbox. A retry uses the same names.
func (d *Deliverer) deliverBatch(
	ctx context.Context, t *Trail, batch []trail.Waiting, last uint64, end, now time.Time,
) error {
	regions := make(map[string][]trail.Waiting)
	for _, w := range batch {
		region := t.regionOf(&w.Event)
		regions[region] = append(regions[region], w)
	}
	var files []File
	for _, region := range slices.Sorted(maps.Keys(regions)) {
		texts := make([][]byte, 0, len(regions[region]))
		entry := logfile.Entry{Bucket: t.Bucket}
		for _, w := range regions[region] {
			texts = append(texts, w.Text)
			entry.Include(w.EventTime)
		}
		first := regions[region][0].Number
		entry.Key = logfile.Name(t.Prefix, t.Account, region, end, unique(t.ID, region, first, last))
		body, hash := logfile.Encode(texts)
		if err := d.put(ctx, t, entry.Key, bucket.Object{Body: body}); err != nil {
			return err
		}
		entry.Hash = hash
		files = append(files, File{Trail: t.ID, Region: region, Delivered: stamp(now), Entry: entry})
	}
	return d.Delivered(ctx, t, files, last, now)
}

// put stores an object in the bucket of a trail. Permission to write to it may have changed since the trail was
// created.
func (d *Deliverer) put(ctx context.Context, t *Trail, key string, o bucket.Object) error {
	if d.Store == nil {
		return fmt.Errorf("%w: this server has been given no place for buckets", bucket.ErrNoBucket)
	}
	if err := d.Owners.Check(t.Bucket, t.Account); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	return d.Store.Put(ctx, t.Bucket, key, o)
}

// unique returns the unique part of a file's name.
func unique(id uuid.UUID, region string, first, last uint64) string {
	text := append(id[:], region...)
	text = binary.BigEndian.AppendUint64(text, first)
	text = binary.BigEndian.AppendUint64(text, last)
	sum := sha256.Sum256(text)
	return base32.StdEncoding.EncodeToString(sum[:10])
}

// Delivered records that files of a trail were delivered, notifies the trail's topic, and removes the events up to a
// number from the outbox.
func (d *Deliverer) Delivered(ctx context.Context, t *Trail, files []File, last uint64, now time.Time) error {
	notifyErr := d.notify(ctx, t, files)
	return d.Trails.Change(ctx, func(tx *Tx) error {
		was := d.Trails.Status(t)
		s := was.clone()
		if len(files) > 0 {
			s.Attempted, s.Delivered, s.Error = stamp(now), stamp(now), ""
			if t.Topic != "" {
				s.note(notifyErr, now)
			}
		}
		for _, f := range files {
			if !t.Validate {
				continue
			}
			if s.Chains[f.Region] == nil {
				s.Chains[f.Region] = &Chain{End: now.UTC().Truncate(time.Second)}
			}
			number, err := trail.NextNumber(tx.tx)
			if err != nil {
				return err
			}
			tx.tx.Put(fileKey(t.ID, number), control.Encode(f))
		}
		if d.Trails.setStatus(tx, t, s) && last > 0 {
			trail.Delivered(tx.tx, t.ID, last)
		}
		return nil
	})
}

// note records the outcome of a message about files.
func (s *Status) note(err error, now time.Time) {
	s.NotifyTried, s.NotifyError = stamp(now), ""
	if err != nil {
		s.NotifyError = "The topic refuses the message: " + err.Error()
		return
	}
	s.Notified = s.NotifyTried
}

// notification is the message to a topic about new files.
type notification struct {
	Bucket string   `json:"s3Bucket"`
	Keys   []string `json:"s3ObjectKey"`
}

// notify notifies the topic of a trail about files, if it has one.
func (d *Deliverer) notify(ctx context.Context, t *Trail, files []File) error {
	if t.Topic == "" || len(files) == 0 {
		return nil
	}
	n := notification{Bucket: files[0].Entry.Bucket}
	for _, f := range files {
		n.Keys = append(n.Keys, f.Entry.Key)
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	return d.Topics.Publish(ctx, t.Topic, string(text), t.Name)
}

// sweep removes the outboxes of deleted trails: an event can be in transfer while its trail is deleted.
func (d *Deliverer) sweep(ctx context.Context) error {
	ids, err := d.Events.Outboxes()
	if err != nil {
		return err
	}
	known := make(map[uuid.UUID]bool)
	for _, t := range d.Trails.list(func(*Trail) bool { return true }) {
		known[t.ID] = true
	}
	ids = slices.DeleteFunc(ids, func(id uuid.UUID) bool { return known[id] })
	if len(ids) == 0 {
		return nil
	}
	return d.Trails.control.Change(ctx, func(tx *control.Tx) error {
		for _, id := range ids {
			trail.Forget(tx, id)
		}
		return nil
	})
}

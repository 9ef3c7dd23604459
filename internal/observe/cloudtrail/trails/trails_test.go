package trails_test

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/logfile"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/selector"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/spool"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

const account = "111122223333"

// world is an installation with one trail, t, that delivers its events to a directory, and a stopped clock.
type world struct {
	*testing.T
	store     *store.Store
	vault     *identity.Vault
	control   *control.Control
	events    *trail.Trail
	trails    *trails.Trails
	spool     *spool.Spool
	buckets   *flaky
	dir       string
	deliverer *trails.Deliverer
	topics    topics
	now       time.Time
	calls     int
}

// flaky is a store of buckets that can fail before or after it has stored an object.
type flaky struct {
	bucket.Store
	before, after error
}

func (f *flaky) Put(ctx context.Context, name, key string, o bucket.Object) error {
	if f.before != nil {
		return f.before
	}
	if err := f.Store.Put(ctx, name, key, o); err != nil {
		return err
	}
	return f.after
}

type topics struct {
	messages []string
	err      error
}

func (t *topics) Publish(_ context.Context, topic, message string, from trails.Name) error {
	t.messages = append(t.messages, topic+" "+from.Name+" "+message)
	return t.err
}

var name = trails.Name{Account: account, Region: "us-east-1", Name: "all"}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := storetest.Memory(t)
	w := &world{
		T: t, store: s, vault: identity.NewVault(), dir: t.TempDir(),
		now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC),
	}
	if err := os.Mkdir(filepath.Join(w.dir, "audit"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := bucket.OpenDirectory(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	w.buckets = &flaky{Store: d}
	w.restart()
	return w
}

// restart starts again with the contents of the store, as another node would.
func (w *world) restart() {
	w.Helper()
	w.control = control.New(control.Options{Store: w.store})
	w.events = trail.New(trail.Options{Control: w.control, Now: func() time.Time { return w.now }})
	var err error
	w.spool, err = spool.Open(filepath.Join(w.dir, "spool"), slog.New(slog.DiscardHandler))
	w.must(err)
	if w.trails, err = trails.Open(trails.Options{Control: w.control, Vault: w.vault, Spool: w.spool}); err != nil {
		w.Fatal(err)
	}
	w.events.SelectBy(w.trails)
	w.events.DataTo(w.trails)
	w.deliverer = trails.NewDeliverer(trails.DelivererOptions{
		Trails: w.trails, Events: w.events, Store: w.buckets, Topics: &w.topics, Now: func() time.Time { return w.now },
		Log: slog.New(slog.DiscardHandler), Spool: w.spool,
	})
}

// create creates a trail and starts it.
func (w *world) create(f func(*trails.Trail)) {
	w.Helper()
	t := &trails.Trail{Name: name, Bucket: "audit", Logging: true}
	if f != nil {
		f(t)
	}
	w.must(w.trails.Change(w.Context(), func(tx *trails.Tx) error { return tx.Create(t, w.now) }))
}

// set changes the trail.
func (w *world) set(f func(*trails.Trail)) {
	w.Helper()
	c := w.trails.Find(name).Clone()
	f(c)
	w.must(w.trails.Change(w.Context(), func(tx *trails.Tx) error { tx.Put(c); return nil }))
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

type input struct {
	Name string `max:"64"`
}

var operations = func() map[string]*protocol.Operation {
	wire := protocol.NewService(protocol.Service{Name: "sqs", Target: "T"})
	handle := func(context.Context, *protocol.Call, *input) (*struct{ Url string }, error) { return nil, nil }
	protocol.Register(wire, "CreateThing", handle)
	protocol.Register(wire, "ListThings", handle)
	out := make(map[string]*protocol.Operation)
	for _, op := range wire.Operations() {
		out[op.Name] = op
	}
	return out
}()

// call is a call in a region. It changes something unless it is a list.
func (w *world) call(op, region string) (id string) {
	w.Helper()
	who := identity.Root(account, "AKIA1")
	w.calls++
	id = fmt.Sprintf("r-%d", w.calls)
	r := w.events.Begin(&protocol.Call{Service: "sqs", Operation: op, RequestID: id, Region: region}, operations[op],
		&who, w.now)
	if op == "CreateThing" {
		w.must(w.control.Change(r.Changes(w.Context()),
			func(tx *control.Tx) error { tx.Put("thing", nil); return nil }))
	}
	r.End([]byte(`{"url":"http://x"}`), nil)
	w.events.Write(w.Context(), nil)
	return id
}

func (w *world) deliver() error { return w.deliverer.Deliver(w.Context()) }

// after lets time pass and delivers.
func (w *world) after(d time.Duration) {
	w.Helper()
	w.now = w.now.Add(d)
	w.must(w.deliver())
}

// keys returns the keys in the bucket, without the account.
func (w *world) keys(prefix string) (out []string) {
	w.Helper()
	all, err := w.buckets.List(w.Context(), "audit", prefix)
	w.must(err)
	return all
}

// delivered returns the request ids of all events in the bucket, in order.
func (w *world) delivered() (out []string) {
	w.Helper()
	for _, key := range w.keys("") {
		if strings.Contains(key, "/CloudTrail-Digest/") {
			continue
		}
		o, err := w.buckets.Get(w.Context(), "audit", key)
		w.must(err)
		text, err := logfile.Decompress(o.Body)
		w.must(err)
		var file struct{ Records []trail.Event }
		w.must(json.Unmarshal(text, &file))
		for _, e := range file.Records {
			out = append(out, e.RequestID)
			if !e.ReadOnly && len(e.ResponseElements) < 10 {
				w.Errorf("the event of a change has no answer: %+v", e)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) wantDelivered(want ...string) {
	w.Helper()
	slices.Sort(want)
	if got := w.delivered(); !slices.Equal(got, want) {
		w.Errorf("delivered are %v, want %v", got, want)
	}
}

// Events are delivered five minutes after the first of them, each once, in files with CloudTrail's names.
func TestDeliver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call("CreateThing", "us-east-1") // before there is a trail
	w.create(func(t *trails.Trail) { t.Prefix, t.Topic = "logs", "arn:aws:sns:us-east-1:"+account+":news" })
	a := w.call("CreateThing", "us-east-1")
	w.call("CreateThing", "eu-west-1") // which the trail does not get
	w.after(2 * time.Minute)
	b := w.call("ListThings", "us-east-1")
	w.after(2 * time.Minute)
	w.wantDelivered()
	w.after(2 * time.Minute)
	w.wantDelivered(a, b)
	keys := w.keys("")
	if want := "logs/AWSLogs/111122223333/CloudTrail/us-east-1/2026/11/22/111122223333_CloudTrail_us-east-1_20261122T0905Z_"; len(keys) != 1 ||
		!strings.HasPrefix(keys[0], want) || len(keys[0]) != len(want)+len("ABCDEFGHIJKLMNOP.json.gz") {
		t.Errorf("the keys are %v", keys)
	}
	if want := `arn:aws:sns:us-east-1:111122223333:news all {"s3Bucket":"audit","s3ObjectKey":["` + keys[0] +
		`"]}`; len(w.topics.messages) != 1 || w.topics.messages[0] != want {
		t.Errorf("the topic got %v", w.topics.messages)
	}
	if s := w.trails.Status(w.trails.Find(name)); !s.Delivered.Equal(w.now) || !s.Attempted.Equal(w.now) ||
		!s.Notified.Equal(w.now) || s.Error != "" {
		t.Errorf("the status is %+v", s)
	}
	w.restart()
	w.after(time.Hour)
	w.wantDelivered(a, b)
	c := w.call("CreateThing", "us-east-1")
	w.set(func(t *trails.Trail) { t.Logging = false })
	w.call("CreateThing", "us-east-1")
	w.topics.err = errors.New("it is shut")
	w.after(6 * time.Minute)
	w.wantDelivered(a, b, c)
	if s := w.trails.Status(w.trails.Find(name)); !strings.Contains(s.NotifyError, "it is shut") ||
		!s.NotifyTried.Equal(w.now) || s.Notified.Equal(w.now) {
		t.Errorf("the status is %+v", s)
	}
}

// A trail of all regions has a folder for the files of each region.
func TestMultiRegion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(func(t *trails.Trail) { t.MultiRegion = true })
	a, b := w.call("CreateThing", "us-east-1"), w.call("CreateThing", "eu-west-1")
	w.after(6 * time.Minute)
	w.wantDelivered(a, b)
	for _, region := range []string{"us-east-1", "eu-west-1"} {
		if keys := w.keys("AWSLogs/" + account + "/CloudTrail/" + region + "/2026/11/22/"); len(keys) != 1 {
			t.Errorf("%s has %v", region, keys)
		}
	}
}

// Files that cannot be delivered wait, even for another node; a delivered file that was not recorded is delivered again
// under the same name.
func TestDeliverAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(nil)
	a := w.call("CreateThing", "us-east-1")
	w.now = w.now.Add(6 * time.Minute)
	w.buckets.before = fmt.Errorf("cannot: %w", bucket.ErrDenied)
	if err := w.deliver(); !errors.Is(err, bucket.ErrDenied) {
		t.Fatal(err)
	}
	if s := w.trails.Status(w.trails.Find(name)); s.Error != "AccessDenied" || !s.Attempted.Equal(w.now) ||
		!s.Delivered.IsZero() {
		t.Errorf("the status is %+v", s)
	}
	if err := w.deliver(); err != nil {
		t.Errorf("at once, once more: %v", err)
	}
	w.now = w.now.Add(time.Minute)
	w.buckets.before, w.buckets.after = nil, errors.New("the connection broke")
	if err := w.deliver(); err == nil {
		t.Fatal("nothing failed")
	}
	w.wantDelivered(a)
	b := w.call("CreateThing", "us-east-1")
	w.restart()
	w.buckets.after = nil
	w.after(time.Minute)
	w.wantDelivered(a)
	w.after(5 * time.Minute)
	w.wantDelivered(a, b)
	if keys := w.keys(""); len(keys) != 2 {
		t.Errorf("the bucket has %v", keys)
	}
	if s := w.trails.Status(w.trails.Find(name)); s.Error != "" || !s.Delivered.Equal(w.now) {
		t.Errorf("the status is %+v", s)
	}
}

// Nothing remains of a deleted trail, not even undelivered events.
func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(func(t *trails.Trail) { t.Validate = true })
	w.call("CreateThing", "us-east-1")
	w.after(6 * time.Minute)
	w.call("CreateThing", "us-east-1")
	old := w.trails.Find(name)
	w.must(w.trails.Change(t.Context(), func(tx *trails.Tx) error { tx.Delete(old); return nil }))
	w.create(nil)
	w.after(6 * time.Minute)
	if n := len(w.delivered()); n != 1 {
		t.Errorf("%d events were delivered", n)
	}
	ids, err := w.events.Outboxes()
	n, problems, checkErr := trails.Check(w.store, w.vault)
	if err != nil || checkErr != nil || len(ids) > 0 || n != (trails.Counts{Trails: 1}) || len(problems) > 0 {
		t.Errorf("left are %v, %+v, %v, %v, %v", ids, n, problems, err, checkErr)
	}
}

// Each hour has a digest, which names its files, and the previous digest.
func TestDigests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(func(t *trails.Trail) { t.Validate, t.MultiRegion = true, true })
	w.after(0)
	for range 3 {
		w.call("CreateThing", "us-east-1")
		w.after(30 * time.Minute)
	}
	w.call("CreateThing", "eu-west-1")
	w.after(6 * time.Minute)
	w.after(55 * time.Minute)
	w.after(5 * time.Hour) // one digest for a long time without files
	w.set(func(t *trails.Trail) { t.Logging = false })
	w.after(2 * time.Hour)
	w.after(24 * time.Hour)
	w.set(func(t *trails.Trail) { t.Logging = true })
	w.after(0)
	w.after(2 * time.Hour)
	for region, want := range map[string]string{"us-east-1": "1 2 0 0 0", "eu-west-1": "1 0 0"} {
		if got := w.verify(region); got != want {
			t.Errorf("%s: the digests have %s files, want %s", region, got, want)
		}
	}
	n, problems, err := trails.Check(w.store, w.vault)
	if n != (trails.Counts{Trails: 1, Keys: 2}) || len(problems) > 0 || err != nil {
		t.Errorf("%+v, %v, %v", n, problems, err)
	}
	if _, problems, _ = trails.Check(w.store, identity.NewVault()); len(problems) != 2 {
		t.Errorf("with another master key: %v", problems)
	}
}

// verify reads the digests of a region and returns the number of files that each names, the oldest first.
func (w *world) verify(region string) string {
	w.Helper()
	public := func(fingerprint string) *rsa.PublicKey {
		for _, k := range w.trails.Keys(region) {
			if k.Fingerprint == fingerprint {
				key, err := x509.ParsePKCS1PublicKey(k.Public)
				w.must(err)
				return key
			}
		}
		return nil
	}
	var counts []string
	var last *logfile.Link
	for _, key := range w.keys(logfile.DigestFolder("", account, region)) {
		o, err := w.buckets.Get(w.Context(), "audit", key)
		w.must(err)
		d, link, err := logfile.Open(o.Body, o.Metadata, "audit", key, public)
		w.must(err)
		if before := d.Before(); before != nil && *before != *last {
			w.Errorf("%s: before it is %+v, not %+v", key, before, last)
		}
		last = &link
		counts = append(counts, fmt.Sprint(len(d.Files)))
	}
	return strings.Join(counts, " ")
}

// takesData makes a trail select the data events of queues.
func takesData(t *trails.Trail) {
	t.Validate = true
	t.Selectors = selector.Set{Advanced: []selector.Advanced{{Fields: []selector.Field{
		{Name: "eventCategory", Equals: []string{"Data"}},
		{Name: "resources.type", Equals: []string{"AWS::SQS::Queue"}},
	}}}}
}

// data is a call on data in a region.
func (w *world) data(region string) (id string) {
	w.Helper()
	w.calls++
	id = fmt.Sprintf("r-%d", w.calls)
	if !w.events.WantsData() {
		return id
	}
	who := identity.Root(account, "AKIA1")
	c := &protocol.Call{Service: "sqs", Operation: "ListThings", RequestID: id, Region: region}
	r := w.events.BeginData(c, operations["ListThings"], &who, w.now)
	c.About.ARN, c.About.Owner = "arn:aws:sqs:"+region+":"+account+":jobs", account
	r.End(nil, nil)
	return id
}

// The node that has recorded data events delivers them, even after a restart, and they are in the digests.
func TestDeliverData(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.data("us-east-1")
	w.create(takesData)
	w.after(0)
	a := w.data("us-east-1")
	w.data("eu-west-1")
	flush := func(d time.Duration) error {
		w.now = w.now.Add(d)
		return errors.Join(w.spool.Flush(w.now), w.deliver())
	}
	w.must(flush(0))
	b := w.data("us-east-1")
	w.must(flush(time.Second))
	w.restart()
	w.buckets.after = errors.New("the connection broke")
	if err := flush(6 * time.Minute); err == nil {
		t.Error("nothing failed")
	}
	w.buckets.after = nil
	w.must(flush(0)) // too early to retry
	w.must(flush(10 * time.Second))
	w.wantDelivered(a, b)
	if keys := w.keys(""); len(keys) != 1 {
		t.Errorf("the keys are %v", keys)
	}
	w.after(time.Hour)
	if got := w.verify("us-east-1"); got != "1" {
		t.Errorf("the digests have %s files", got)
	}
	w.data("us-east-1")
	w.must(flush(0))
	old := w.trails.Find(name)
	w.must(w.trails.Change(t.Context(), func(tx *trails.Tx) error { tx.Delete(old); return nil }))
	w.must(flush(6 * time.Minute))
	if due := w.spool.Due(w.now, 0); len(due) > 0 {
		t.Errorf("after the trail there are %v", due)
	}
	if w.events.WantsData() {
		t.Error("data events are recorded for no trail")
	}
}

// The cost of trails for every call that sends a message, as long as none selects data events.
func BenchmarkNoDataEvents(b *testing.B) {
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	c := control.New(control.Options{Store: s})
	all, err := trails.Open(trails.Options{Control: c})
	if err != nil {
		b.Fatal(err)
	}
	events := trail.New(trail.Options{Control: c})
	events.DataTo(all)
	for b.Loop() {
		if events.WantsData() {
			b.Fatal("wanted")
		}
	}
}

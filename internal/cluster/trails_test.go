//go:build !race

package cluster_test

// The hours of digests pass only in a bubble.

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/logfile"
)

// audit is a trail of a cluster, as each of its nodes delivers it, and its bucket. Its clock is ahead of the nodes'
// clocks.
type audit struct {
	*world
	ahead  atomic.Int64
	vault  *identity.Vault
	stop   map[string]context.CancelFunc
	trails map[string]*trails.Trails
	events map[string]*trail.Trail
	// putting is called before and after each object is stored, by the node that stores it.
	putting func(node, key string, stored bool)

	mu      sync.Mutex
	objects map[string]bucket.Object
	written int // events
}

var auditName = trails.Name{Account: "000000000000", Region: "us-east-1", Name: "all"}

func newAudit(w *world) *audit {
	return &audit{
		world: w, vault: identity.NewVault(), stop: make(map[string]context.CancelFunc),
		trails: make(map[string]*trails.Trails),
		events: make(map[string]*trail.Trail), objects: make(map[string]bucket.Object),
		putting: func(string, string, bool) {},
	}
}

func (a *audit) now() time.Time { return time.Now().Add(time.Duration(a.ahead.Load())) }

// auditBucket is the bucket as a node uses it until the node is killed.
type auditBucket struct {
	*audit
	node string
	life context.Context
}

func (b auditBucket) Find(context.Context, string) error { return nil }

func (b auditBucket) Put(_ context.Context, _, key string, o bucket.Object) error {
	b.putting(b.node, key, false)
	if err := b.life.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	b.objects[key] = o
	b.mu.Unlock()
	b.putting(b.node, key, true)
	return b.life.Err()
}

func (b auditBucket) Get(context.Context, string, string) (bucket.Object, error) {
	return bucket.Object{}, bucket.ErrNoObject
}

func (b auditBucket) List(context.Context, string, string) ([]string, error) { return nil, nil }

// run delivers from a node, as its server would.
func (a *audit) run(name string) {
	ctl := a.at(name).node.Control()
	ctx, cancel := context.WithCancel(a.life)
	all, err := trails.Open(trails.Options{Control: ctl, Vault: a.vault})
	a.must(err)
	events := trail.New(trail.Options{Control: ctl, Now: a.now})
	events.SelectBy(all)
	a.stop[name], a.trails[name], a.events[name] = cancel, all, events
	d := trails.NewDeliverer(trails.DelivererOptions{
		Trails: all, Events: events, Store: auditBucket{a, name, ctx}, Now: a.now,
		Log: slog.New(slog.NewTextHandler(a.t.Output(), nil)).With("deliverer", name),
	})
	a.ending.Go(func() { d.Run(ctx) })
}

// write makes a change whose event belongs to the trail.
func (a *audit) write() {
	n := a.written
	a.written++
	a.does(func() error {
		owner := a.controlOwner()
		with := a.events[owner].BeginService(&trail.ServiceEvent{
			Account: auditName.Account, Region: auditName.Region, Service: "sqs", Name: fmt.Sprintf("Event%d", n),
			At: a.now(),
		}).Changes(context.Background())
		err := a.at(owner).catalog.Change(with, func(tx *catalog.Tx) error {
			name := fmt.Sprintf("queue%d", n)
			_, err := tx.Create(named(name), attributes(name), nil, time.Now())
			return err
		})
		if errors.Is(err, catalog.ErrExists) { // the answer to the previous attempt was lost
			return nil
		}
		return err
	})
}

// pass lets minutes pass, with an occasional event.
func (a *audit) pass(minutes int, writes bool) {
	for n := range minutes {
		if writes && n%3 == 0 {
			a.write()
		}
		a.ahead.Add(int64(time.Minute))
		a.pause(2 * time.Second)
	}
}

// delivered returns how many times each event is in the files, and the keys of the files.
func (a *audit) delivered() (events map[string]int, files []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	events = make(map[string]int)
	for key, o := range a.objects {
		if isDigest(key) {
			continue
		}
		files = append(files, key)
		text, err := logfile.Decompress(o.Body)
		a.must(err)
		var file struct{ Records []struct{ EventName string } }
		a.must(json.Unmarshal(text, &file))
		for _, r := range file.Records {
			events[r.EventName]++
		}
	}
	slices.Sort(files)
	return events, files
}

func isDigest(key string) bool { return strings.Contains(key, "/CloudTrail-Digest/") }

// digests reads the digests, the oldest first, as a validator does, and returns how many digests contain each file.
func (a *audit) digests(node string) (named map[string]int, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := make(map[string]*rsa.PublicKey)
	for _, k := range a.trails[node].Keys(auditName.Region) {
		public, err := x509.ParsePKCS1PublicKey(k.Public)
		a.must(err)
		keys[k.Fingerprint] = public
	}
	named = make(map[string]int)
	var last *logfile.Link
	var end time.Time
	for _, key := range slices.Sorted(maps.Keys(a.objects)) {
		if !isDigest(key) {
			continue
		}
		o := a.objects[key]
		d, link, err := logfile.Open(o.Body, o.Metadata, "audit", key, func(f string) *rsa.PublicKey { return keys[f] })
		if err != nil {
			a.t.Fatalf("%s: %v", key, err)
		}
		before := d.Before()
		if (before == nil) != (last == nil) || last != nil && *before != *last || n > 0 && !d.Start.Equal(end) {
			a.t.Errorf("%s does not follow the digest before it: from %v, after %v", key, d.Start, end)
		}
		for _, f := range d.Files {
			named[f.Key]++
			text, err := logfile.Decompress(a.objects[f.Key].Body)
			if a.must(err); logfile.Hash(text) != f.Hash {
				a.t.Errorf("the hash of %s is not the one in %s", f.Key, key)
			}
		}
		last, end, n = &link, d.End, n+1
	}
	return named, n
}

// The node that delivers a trail is killed before or after it has stored a file or a digest, and before it has recorded
// that. Its successor continues: each event is in one file, each file in one digest, and each digest follows the
// previous one.
func TestTrailsOutliveOwners(t *testing.T) {
	for _, digest := range []bool{false, true} {
		for _, stored := range []bool{false, true} {
			t.Run(fmt.Sprintf("digest=%t/stored=%t", digest, stored), func(t *testing.T) {
				inWorld(t, func(w *world) { deliverAfterKill(newAudit(w), digest, stored) })
			})
		}
	}
}

func deliverAfterKill(a *audit, digest, stored bool) {
	a.start("a", "b", "c")
	a.settled("a", "b", "c")
	for _, name := range []string{"a", "b", "c"} {
		a.run(name)
	}
	killed := make(chan string, 1)
	var seen atomic.Int32
	a.putting = func(node, key string, done bool) {
		if isDigest(key) == digest && done == stored && seen.Add(1) == 2 {
			a.stop[node]()
			killed <- node
		}
	}
	owner := a.controlOwner()
	one := &trails.Trail{Name: auditName, Bucket: "audit", Logging: true, Validate: true}
	a.must(a.trails[owner].Change(context.Background(), func(tx *trails.Tx) error { return tx.Create(one, a.now()) }))
	var dead string
	for minutes := 0; dead == "" && minutes < 300; minutes++ {
		a.pass(1, true)
		select {
		case dead = <-killed:
		default:
		}
	}
	if dead == "" {
		a.t.Fatal("no node was killed: no file was delivered")
	}
	a.kill(dead)
	a.settled(slices.DeleteFunc([]string{"a", "b", "c"}, func(name string) bool { return name == dead })...)
	a.pass(90, true)
	a.pass(75, false) // so that all files are in digests

	next := a.controlOwner()
	events, files := a.delivered()
	for n := range a.written {
		if got := events[fmt.Sprintf("Event%d", n)]; got != 1 {
			a.t.Errorf("event %d is in %d files", n, got)
		}
	}
	inDigests, n := a.digests(next)
	for _, key := range files {
		if inDigests[key] != 1 {
			a.t.Errorf("%s is in %d digests", key, inDigests[key])
		}
	}
	if n < 2 || len(files) < 10 || len(inDigests) != len(files) {
		a.t.Errorf("%d digests with %d files, want %d files", n, len(inDigests), len(files))
	}
}

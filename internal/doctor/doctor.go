package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/detector"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insightrule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/muterule"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/preferences"
	"github.com/sluicemq/sluice/internal/topic/signing"
)

// Directory is the layout of a data directory.
type Directory struct {
	Dir         string // itself
	Credentials string // file of the root keys
	MasterKey   string // file of the key under which secrets are encrypted
	Control     string // store of the catalog
	Shards      []Shard
	Node        bool // it belongs to a node of a cluster
}

// Shard is a store of messages.
type Shard struct {
	Number int
	Dir    string
}

// names returns the prefix of the names of its checks: without a number if it is the only shard.
func (s *Shard) names(d *Directory) (files, queues, leftovers string) {
	if len(d.Shards) == 1 && s.Number == 1 && !d.Node {
		return "messages", "queues", "leftovers"
	}
	name := fmt.Sprintf("%04d", s.Number)
	return name, name + " queues", name + " leftovers"
}

// Progress is called from time to time with the current check and how much of it was read.
type Progress func(check string, bytes uint64)

// cacheSize is enough for reading everything once.
const cacheSize = 16 << 20

// Examine checks everything in a data directory. An error means that this was not possible: there is no data directory,
// a server runs on it, it may not be read, or ctx has ended. Damage is reported, not returned as an error.
func Examine(ctx context.Context, d Directory, progress Progress) (*Report, error) {
	if progress == nil {
		progress = func(string, uint64) {}
	}
	e := &examination{ctx: ctx, directory: &d, progress: progress, cache: store.NewCache(cacheSize)}
	defer e.cache.Close()
	if !exists(d.Control) && !slices.ContainsFunc(d.Shards, func(s Shard) bool { return exists(s.Dir) }) {
		return nil, fmt.Errorf("%s: %w", filepath.Dir(d.Control), errNoData)
	}
	e.credentials(d.Credentials)
	if err := e.format(d.Dir); err != nil {
		return nil, err
	}
	err := e.store("control", d.Control, func(s *store.Store) error {
		return errors.Join(
			e.catalog(s), e.topics(s), e.alarms(s), e.sessions(s), e.limits(s), e.users(s, d.MasterKey), e.cluster(s),
		)
	})
	for _, shard := range d.Shards {
		if err == nil {
			files, _, _ := shard.names(&d)
			err = e.store(files, shard.Dir, func(s *store.Store) error { return e.queues(s, &shard) })
		}
	}
	if err != nil {
		return nil, err
	}
	e.report.Sound = true
	for _, c := range e.report.Checks {
		e.report.Sound = e.report.Sound && len(c.Problems) == 0 && c.Skipped == ""
	}
	return &e.report, nil
}

var errNoData = errors.New("there is no data of a server here")

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// examination is one run of Examine.
type examination struct {
	ctx       context.Context
	directory *Directory
	progress  Progress
	cache     *store.Cache
	report    Report
	catalogue []*catalog.Queue
	shelved   []*catalog.Queue // deleted ones that can be brought back
	deleted   func(queue.ID) bool
	known     bool // whether the catalog could be read
}

func (e *examination) check(name string) *Check {
	c := &Check{Name: name, Problems: []string{}}
	e.report.Checks = append(e.report.Checks, c)
	return c
}

// format checks which program the directory needs. If that is a newer one, this program's other findings would be
// worthless.
func (e *examination) format(dir string) error {
	c := e.check("format")
	f, err := datadir.ReadFormat(dir)
	if errors.Is(err, datadir.ErrTooNew) {
		return err
	}
	if err != nil {
		c.problem("%v", err)
		return nil
	}
	c.count("format", uint64(f.Number))
	if f.Version != "" {
		c.Note = "Sluice " + f.Version + " or a later version can open it"
	}
	return nil
}

func (e *examination) credentials(path string) {
	c := e.check("credentials")
	if !exists(path) {
		c.problem("%s is missing; a server would create new keys, and the clients would need them", path)
		return
	}
	keys, err := identity.LoadCredentials(path, nil)
	if err != nil {
		c.problem("%v", err)
		return
	}
	c.count("accounts", uint64(len(keys.Accounts())))
}

// store checks the files of a store, and its contents with contents.
func (e *examination) store(name, dir string, contents func(*store.Store) error) error {
	logs, tables := e.check(name+" logs"), e.check(name+" tables")
	s, err := store.OpenReadOnly(dir, store.Options{Cache: e.cache})
	if err != nil {
		switch {
		case errors.Is(err, fs.ErrNotExist) && !store.IsCorruption(err):
			logs.problem("there is no store in %s", dir)
		case store.IsCorruption(err):
			logs.problem("%v", err)
		case errors.Is(err, store.ErrLocked):
			return fmt.Errorf("stop the server first: %w", err)
		default:
			return err
		}
		tables.Skipped = "the store cannot be opened"
		return contents(nil)
	}
	err = e.tables(s, logs, tables)
	if err == nil {
		err = contents(s)
	}
	return errors.Join(err, s.Close())
}

func (e *examination) tables(s *store.Store, logs, tables *Check) error {
	if mark := s.Mark(); mark.Position > 0 {
		logs.Note = fmt.Sprintf(
			"it has the cluster's log up to record %d; later records are in that log, and are not examined",
			mark.Position,
		)
	}
	l := s.Logs()
	logs.count("files", uint64(l.Files))
	logs.count("commits", uint64(l.Commits))
	logs.count("bytes", uint64(l.Bytes))
	read := uint64(0)
	t, err := s.VerifyTables(func(bytes int64) error {
		read += uint64(bytes)
		e.progress(tables.Name, read)
		return context.Cause(e.ctx)
	})
	for _, damage := range t.Damaged {
		tables.problem("%v", damage)
	}
	tables.count("files", uint64(t.Files))
	tables.count("bytes", uint64(t.Bytes))
	return err
}

// catalog checks the records of the queues.
func (e *examination) catalog(s *store.Store) error {
	c := e.check("catalog")
	if s == nil {
		c.Skipped = "the store cannot be opened"
		return nil
	}
	listed, problems, err := catalog.Check(
		s,
		directory.Prefix,
		identity.Prefix,
		signing.Prefix,
		topic.Prefix,
		preferences.Prefix,
		monitor.Prefix,
		detector.Prefix,
		insightrule.Prefix,
		muterule.Prefix,
		trails.Prefix,
		session.Prefix,
		login.Prefix,
		tenant.Prefix,
		encryption.Prefix,
		cluster.KeyPrefix,
	)
	c.Problems = append(c.Problems, problems...)
	for _, check := range []func(*store.Store) ([]string, error){
		encryption.Check, preferences.Check, detector.Check, insightrule.Check, muterule.Check,
	} {
		if err == nil {
			var bad []string
			bad, err = check(s)
			c.Problems = append(c.Problems, bad...)
		}
	}
	if err != nil {
		c.problem("%v", err)
		return nil
	}
	e.catalogue, e.shelved, e.deleted = listed.Queues, listed.Shelved, listed.Deleted
	e.known = len(problems) == 0
	var internal uint64
	for _, q := range listed.Queues {
		if q.Name.Internal() {
			internal++
		}
	}
	c.count("queues", uint64(len(listed.Queues))-internal)
	if internal > 0 {
		c.count("queues of topics and subscriptions", internal)
	}
	if n := len(listed.Shelved); n > 0 {
		c.count("deleted queues that can be brought back", uint64(n))
	}
	return nil
}

// limits checks the limits of accounts and users, if there are any.
func (e *examination) limits(s *store.Store) error {
	if s == nil {
		return nil // which has been said
	}
	subjects, problems, err := tenant.Check(s)
	if subjects == 0 && len(problems) == 0 && err == nil {
		return nil
	}
	c := e.check("limits")
	c.Problems = append(c.Problems, problems...)
	if err != nil {
		c.problem("%v", err)
		return nil
	}
	c.count("accounts and users", uint64(subjects))
	return nil
}

// topics checks the records of topics and subscriptions, if there are any.
func (e *examination) topics(s *store.Store) error {
	if s == nil {
		return nil // which has been said
	}
	topics, subscriptions, problems, err := topic.Check(s, e.catalogue)
	if topics+subscriptions == 0 && len(problems) == 0 && err == nil {
		return nil
	}
	c := e.check("topics")
	c.Problems = append(c.Problems, problems...)
	if err != nil {
		c.problem("%v", err)
	}
	c.count("topics", uint64(topics))
	c.count("subscriptions", uint64(subscriptions))
	return nil
}

// alarms checks alarms, dashboards and the metrics sent by programs, if there are any.
func (e *examination) alarms(s *store.Store) error {
	if s == nil {
		return nil // which has been said
	}
	n, problems, err := monitor.Check(s)
	if n == (monitor.Counts{}) && len(problems) == 0 && err == nil {
		return nil
	}
	c := e.check("alarms")
	c.Problems = append(c.Problems, problems...)
	if err != nil {
		c.problem("%v", err)
	}
	c.count("alarms", uint64(n.Alarms))
	c.count("dashboards", uint64(n.Dashboards))
	c.count("custom metrics", uint64(n.Metrics))
	c.count("items of history", uint64(n.Items))
	return nil
}

// trails checks trails and the keys that sign their digests, if there are any.
func (e *examination) trails(s *store.Store, vault *identity.Vault) error {
	var v trails.Vault // without one the keys are not opened
	if vault != nil {
		v = vault
	}
	n, problems, err := trails.Check(s, v)
	if n == (trails.Counts{}) && len(problems) == 0 {
		return err
	}
	c := e.check("trails")
	c.Problems = append(c.Problems, problems...)
	c.count("trails", uint64(n.Trails))
	c.count("keys that sign digests", uint64(n.Keys))
	c.count("files that wait for a digest", uint64(n.Files))
	return err
}

// sessions checks the console's sessions, if there are any.
func (e *examination) sessions(s *store.Store) error {
	if s == nil {
		return nil // which has been said
	}
	sessions, problems, err := session.Check(s)
	if sessions == 0 && len(problems) == 0 && err == nil {
		return nil
	}
	c := e.check("sessions")
	c.Problems = append(c.Problems, problems...)
	if err != nil {
		c.problem("%v", err)
	}
	c.count("sessions of the console", uint64(sessions))
	return nil
}

// cluster checks the records of the cluster, if there are any.
func (e *examination) cluster(s *store.Store) error {
	if s == nil {
		return nil // which has been said
	}
	shards, problems, err := cluster.Check(s)
	if shards == 0 && len(problems) == 0 && err == nil {
		return nil
	}
	c := e.check("cluster")
	c.Problems = append(c.Problems, problems...)
	if err != nil {
		c.problem("%v", err)
	}
	c.count("shards", uint64(shards))
	c.count("kept here", uint64(len(e.directory.Shards)))
	for _, shard := range e.directory.Shards {
		if shard.Number > shards {
			c.problem("there is a store of shard %d, and there are %d shards", shard.Number, shards)
		}
	}
	return nil
}

// users checks the records of users, and whether the master key decrypts their secrets. A node of a cluster has that
// key in the store.
func (e *examination) users(s *store.Store, masterKey string) error {
	c := e.check("users")
	if s == nil {
		c.Skipped = "the store cannot be opened"
		return nil
	}
	_, shared, problems, sharedErr := identity.Check(s)
	c.Problems = append(c.Problems, problems...)
	vault, err := identity.OpenVault(masterKey)
	secrets, scanErr := directory.HoldsSecrets(s)
	signs, signErr := signing.Held(s)
	digests, digestErr := trails.Held(s)
	factorsHeld, factorErr := login.HoldsSecrets(s)
	held := secrets || signs || digests || factorsHeld
	switch {
	case errors.Is(err, identity.ErrNoMasterKey):
		if vault = shared; held && vault == nil {
			c.problem("%v", err)
		}
	case err != nil:
		c.problem("%v", err)
		vault = shared
	case shared != nil && !shared.Same(vault):
		c.problem("%s is not the master key of the cluster that this node is part of", masterKey)
		vault = shared
	}
	n, problems, err := directory.Check(s, vault)
	c.Problems = append(c.Problems, problems...)
	keys, problems, keysErr := checkSigning(s, vault)
	c.Problems = append(c.Problems, problems...)
	passwords, factors, problems, loginErr := login.Check(s, vault)
	c.Problems = append(c.Problems, problems...)
	trailErr := e.trails(s, vault)
	if err := errors.Join(
		sharedErr, scanErr, signErr, digestErr, factorErr, err, keysErr, loginErr, trailErr,
	); err != nil {
		c.problem("%v", err)
		return nil
	}
	c.count("users", uint64(n.Users))
	c.count("groups", uint64(n.Groups))
	c.count("roles", uint64(n.Roles))
	c.count("keys", uint64(n.Keys))
	c.count("policies", uint64(n.Policies))
	if passwords+factors > 0 {
		c.count("passwords", uint64(passwords))
		c.count("second factors", uint64(factors))
	}
	if keys > 0 {
		c.count("keys that sign messages of topics", uint64(keys))
	}
	return nil
}

// checkSigning checks the keys that sign messages of topics. Without a vault it does not open them.
func checkSigning(s *store.Store, vault *identity.Vault) (keys int, problems []string, err error) {
	if vault == nil {
		return signing.Check(s, nil)
	}
	return signing.Check(s, vault)
}

// queues recounts everything stored of the queues in a shard, and the messages moving from there to queues of others.
func (e *examination) queues(s *store.Store, shard *Shard) error {
	_, queues, leftovers := shard.names(e.directory)
	c, left := e.check(queues), e.check(leftovers)
	if s == nil {
		c.Skipped = "the store cannot be opened"
		left.Skipped = c.Skipped
		return nil
	}
	r := &reader{s: s, e: e, check: c.Name}
	var served, messages, bytes uint64
	var configs []queue.Config
	for _, q := range slices.Concat(e.catalogue, e.shelved) {
		configs = append(configs, q.ConfigOn(shard.Number))
	}
	for _, cfg := range configs {
		if !cfg.Elsewhere {
			served++
		}
		recount, err := queue.Check(r, cfg)
		if ended := context.Cause(e.ctx); ended != nil {
			return ended
		}
		for _, p := range recount.Problems {
			c.problem("queue %s: %s", cfg.ARN, p)
		}
		if recount.More > 0 {
			c.problem("queue %s: and %d more", cfg.ARN, recount.More)
		}
		if err != nil {
			c.problem("%v", err)
		}
		messages += recount.Messages
		bytes += recount.Bytes
	}
	c.count("queues", served)
	c.count("messages", messages)
	c.count("bytes", bytes)
	if !e.known {
		left.Skipped = "it is not known which queues there are"
		return nil
	}
	ids, problems, err := queue.Leftovers(r, configs)
	left.Problems = append(left.Problems, problems...)
	if err != nil {
		left.problem("%v", err)
	}
	e.leftover(left, ids)
	return context.Cause(e.ctx)
}

// leftover reports the data of queues that the catalog does not list.
func (e *examination) leftover(left *Check, ids []queue.ID) {
	deleted := uint64(0)
	var unknown []queue.ID
	for _, id := range ids {
		if e.deleted(id) {
			deleted++
		} else {
			unknown = append(unknown, id)
		}
	}
	left.count("queues", deleted)
	if deleted > 0 {
		left.Note = "data of deleted queues; the server removes it when it starts"
	}
	if len(unknown) == 0 {
		return
	}
	left.count("unknown queues", uint64(len(unknown)))
	what := fmt.Sprintf("data of queues that are neither listed nor known to be deleted (ids %s); the server keeps it", shortList(unknown))
	if e.directory.Node {
		what += "; their records may still be in the cluster's log only"
	}
	left.Note = strings.TrimPrefix(left.Note+"; "+what, "; ")
}

// shortList formats the first ids.
func shortList(ids []queue.ID) string {
	const most = 10
	var text []string
	for _, id := range ids[:min(len(ids), most)] {
		text = append(text, strconv.FormatUint(uint64(id), 10))
	}
	if len(ids) > most {
		text = append(text, "…")
	}
	return strings.Join(text, ", ")
}

// reader reads a store until the examination's context ends, and reports its progress.
type reader struct {
	s     *store.Store
	e     *examination
	check string
	bytes uint64
	rows  int
}

func (r *reader) Get(key []byte) ([]byte, error) { return r.s.Get(key) }

func (r *reader) Scan(lo, hi []byte, f func(key, value []byte) bool) error {
	const between = 1024 // rows between two checks of the context
	err := r.s.Scan(lo, hi, func(k, v []byte) bool {
		r.bytes += uint64(len(k) + len(v))
		if r.rows++; r.rows%between == 0 {
			r.e.progress(r.check, r.bytes)
			if r.e.ctx.Err() != nil {
				return false
			}
		}
		return f(k, v)
	})
	return errors.Join(err, context.Cause(r.e.ctx))
}

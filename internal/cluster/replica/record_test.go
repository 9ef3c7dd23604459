package replica

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

func TestRecordSurvives(t *testing.T) {
	for _, want := range []record{
		{kind: claim, epoch: 1, owner: "a"},
		{kind: batch, epoch: 1 << 60, owner: "", nonce: 3, chain: 4, changes: []byte("changes")},
	} {
		b := want.encode()
		got, err := decode(b)
		if err != nil || got.kind != want.kind || got.epoch != want.epoch || got.owner != want.owner ||
			got.nonce != want.nonce || got.chain != want.chain || string(got.changes) != string(want.changes) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
		for i := range b {
			spoilt := slices.Clone(b)
			spoilt[i] ^= 0x10
			if _, err := decode(spoilt); err == nil {
				t.Errorf("a record that is damaged at byte %d can be read", i)
			}
			if _, err := decode(b[:i]); err == nil {
				t.Errorf("%d of %d bytes can be read", i, len(b))
			}
		}
	}
}

// A record that may not come next stops the replica, and never reaches the store.
func TestReplicaStopsAtARecordThatMustNotBe(t *testing.T) {
	was := store.Mark{Position: 7, Epoch: 3, Owner: "b", Hash: 99}
	good := record{kind: batch, epoch: 3, owner: "b", chain: 99, changes: encodeOps([]op{{1, 0, 0}})}
	cases := map[string]struct {
		change func(*record)
		spoil  func([]byte)
		want   error
	}{
		"nothing": {},
		"the next claim": {change: func(r *record) {
			r.kind, r.epoch, r.owner, r.changes = claim, 4, "c",
				nil
		}},
		"an older epoch":            {change: func(r *record) { r.epoch = 2 }, want: ErrDiverged},
		"a newer epoch":             {change: func(r *record) { r.epoch = 4 }, want: ErrDiverged},
		"another owner":             {change: func(r *record) { r.owner = "a" }, want: ErrDiverged},
		"another past":              {change: func(r *record) { r.chain = 98 }, want: ErrDiverged},
		"a claim of the same epoch": {change: func(r *record) { r.kind, r.changes = claim, nil }, want: ErrDiverged},
		"a claim that leaves one out": {change: func(r *record) { r.kind, r.epoch, r.changes = claim, 5, nil },
			want: ErrDiverged},
		"a kind that is not known": {change: func(r *record) { r.kind = 3 }, want: ErrDamaged},
		"a version not known":      {spoil: func(b []byte) { b[0] = 2 }, want: ErrVersion},
		"damage":                   {spoil: func(b []byte) { b[len(b)-1]++ }, want: ErrDamaged},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newSim(t, 1).nodes[0].shards[0]
			r.store.mark = was
			rec := good
			if c.change != nil {
				c.change(&rec)
			}
			data := rec.encode()
			if c.spoil != nil {
				c.spoil(data)
			}
			r.m.apply(sharedlog.Record{Position: 8, Data: data})
			if c.want == nil {
				if r.m.role == Stopped || r.store.mark.Position != 8 {
					t.Errorf("the replica is %s at %d: %v", r.m.role, r.store.mark.Position, r.m.err)
				}
				return
			}
			if r.m.role != Stopped || !errors.Is(r.m.err, c.want) || r.store.mark != was || len(r.store.ops) > 0 {
				t.Errorf("the replica is %s at %+v: %v", r.m.role, r.store.mark, r.m.err)
			}
		})
	}
}

// A log that ends before the store's last applied record belongs to another store.
func TestReplicaStopsWhenItsLogHasLostSomething(t *testing.T) {
	r := newSim(t, 1).nodes[0].shards[0]
	r.store.mark = store.Mark{Position: 7, Epoch: 3, Owner: "b", Hash: 99}
	ticket := r.m.reads.start(r.m.at() + 1)
	r.m.onRead(ticket, nil, sharedlog.Extent{First: 1, Last: 6}, nil)
	if r.m.role != Stopped || !errors.Is(r.m.err, ErrDiverged) {
		t.Errorf("the replica is %s: %v", r.m.role, r.m.err)
	}
}

// An append that is refused after attempts with unknown outcomes has succeeded if and only if the record is in the log.
func TestOutcomeIsWhatTheLogSays(t *testing.T) {
	mine := func(f *flight) []sharedlog.Record { return []sharedlog.Record{{Position: 8, Data: f.data}} }
	cases := map[string]struct {
		records func(*flight) []sharedlog.Record
		extent  sharedlog.Extent
		err     error
		want    error
	}{
		"it is there":           {mine, sharedlog.Extent{First: 1, Last: 8}, nil, nil},
		"it is there, and more": {mine, sharedlog.Extent{First: 1, Last: 9}, nil, nil},
		"another is there": {func(*flight) []sharedlog.Record {
			return []sharedlog.Record{{Position: 8,
				Data: (&record{kind: claim, epoch: 4, owner: "b", chain: 99}).encode()}}
		}, sharedlog.Extent{First: 1, Last: 8}, nil, ErrDeposed},
		"it was there, or another": {func(*flight) []sharedlog.Record { return nil },
			sharedlog.Extent{First: 20, Last: 30}, sharedlog.ErrTrimmed, ErrDeposed},
		"something unreadable is there": {func(*flight) []sharedlog.Record {
			return []sharedlog.Record{{Position: 8,
				Data: []byte{9}}}
		}, sharedlog.Extent{First: 1, Last: 8}, nil, ErrDeposed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newSim(t, 1).nodes[0].shards[0]
			r.store.mark = store.Mark{Position: 7, Epoch: 3, Owner: "a", Hash: 99}
			r.m.role, r.m.tenure.ownership, r.m.service.running = Owner, newOwnership(3, nil), true
			answers := 0
			var answer error
			r.m.submit(r.m.tenure.ownership, &commit{
				changes: encodeOps([]op{{1, 0, 0}}),
				apply:   func(m store.Mark) error { return r.store.Apply(encodeOps([]op{{1, 0, 0}}), m) },
				done:    func(err error) { answers++; answer = err },
			})
			f := r.m.appends.flight
			r.m.onAppended(f.ticket, errNoAnswer)
			r.m.tick(r.m.now.Add(again))
			if f.retry != (time.Time{}) || r.m.appends.flight != f {
				t.Fatal("it was not appended again")
			}
			r.m.onAppended(f.ticket, sharedlog.ErrConflict)
			if answers > 0 {
				t.Fatal("a caller was answered before the log was read")
			}
			r.m.onRead(r.m.reads.awaited, c.records(f), c.extent, c.err)
			if answers != 1 || !errors.Is(answer, c.want) {
				t.Fatalf("%d answers, the last %v", answers, answer)
			}
			if stored := len(r.store.ops) == 1; stored != (c.want == nil) || r.m.owns() != stored {
				t.Errorf("the replica is %s at %+v", r.m.role, r.store.mark)
			}
		})
	}
}

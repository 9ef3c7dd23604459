package locallog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog/locallog"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog/logtest"
	"github.com/sluicemq/sluice/internal/store"
)

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openLog(t *testing.T, s *store.Store, name string) *locallog.Log {
	t.Helper()
	l, err := locallog.Open(s, name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLog(t *testing.T) {
	s := openStore(t, t.TempDir())
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	n := 0
	logtest.TestLog(t, func(t *testing.T) sharedlog.Log {
		n++ // they share a store, and must not see each other's records
		return openLog(t, s, fmt.Sprint("log", n))
	})
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	want := sharedlog.Extent{First: 1}
	for round := range 5 {
		s := openStore(t, dir)
		l := openLog(t, s, "1")
		_, e, err := l.Read(ctx, want.First)
		if err != nil || e.First != want.First || e.Last != want.Last {
			t.Fatalf("round %d: %+v, %v; not %+v", round, e, err, want)
		}
		if err := l.Append(ctx, e.Last+1, nil); !errors.Is(err, sharedlog.ErrConflict) {
			t.Errorf("append: %v", err)
		}
		for range 3 {
			if err := l.Append(ctx, want.Last, fmt.Append(nil, want.Last)); err != nil {
				t.Fatal(err)
			}
			want.Last++
		}
		if err := l.Trim(ctx, want.First+1); err != nil {
			t.Fatal(err)
		}
		want.First += 2
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := openStore(t, dir)
	l := openLog(t, s, "1")
	records, _, err := l.Read(ctx, want.First)
	if err != nil || len(records) != int(want.Last-want.First)+1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for i, r := range records {
		if p := want.First + sharedlog.Position(i); r.Position != p || string(r.Data) != fmt.Sprint(p-1) {
			t.Errorf("record %d is %d, %q", i, r.Position, r.Data)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

package preferences_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
	"github.com/sluicemq/sluice/internal/topic/preferences"
)

var here = preferences.Place{Account: "111122223333", Region: "us-east-1"}

// open returns preferences in a store in memory, and a function that opens them again.
func open(t *testing.T, f control.Formats) (*preferences.Preferences, *store.Store, func() *preferences.Preferences) {
	t.Helper()
	s := storetest.Memory(t)
	again := func() *preferences.Preferences {
		ctl := control.New(control.Options{Store: s})
		if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
			t.Fatal(err)
		}
		p, err := preferences.Open(ctl, f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return again(), s, again
}

// Preferences stay until they are set to nothing, are separate for each region, and survive a restart.
func TestPreferences(t *testing.T) {
	p, s, again := open(t, control.Formats{})
	there := preferences.Place{Account: here.Account, Region: "eu-west-1"}
	set := func(place preferences.Place, v preferences.Values) {
		t.Helper()
		if err := p.Set(t.Context(), place, v); err != nil {
			t.Fatal(err)
		}
	}
	want := func(p *preferences.Preferences, place preferences.Place, v preferences.Values) {
		t.Helper()
		if got := p.Of(place); !maps.Equal(got, v) {
			t.Errorf("%v: %v, want %v", place, got, v)
		}
	}
	want(p, here, nil)
	set(here, preferences.Values{"a": "1", "b": "2"})
	set(there, preferences.Values{"a": "3"})
	set(here, preferences.Values{"b": "", "c": "4"})
	want(p, here, preferences.Values{"a": "1", "c": "4"})
	want(again(), here, preferences.Values{"a": "1", "c": "4"})
	want(again(), there, preferences.Values{"a": "3"})
	set(there, preferences.Values{"a": ""})
	want(p, there, nil)
	if problems, err := preferences.Check(s); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// An account has preferences in a bounded number of regions, because any name can be a region's. Neither others nor
// changes of existing ones are affected.
func TestMostRegions(t *testing.T) {
	t.Parallel()
	p, _, _ := open(t, control.Formats{})
	in := func(account string, n int) preferences.Place {
		return preferences.Place{Account: account, Region: fmt.Sprintf("region-%d", n)}
	}
	set := func(place preferences.Place, value string, want error) {
		t.Helper()
		if err := p.Set(t.Context(), place, preferences.Values{"a": value}); !errors.Is(err, want) {
			t.Fatalf("%v: %v, want %v", place, err, want)
		}
	}
	for n := range preferences.MaxRegions {
		set(in(here.Account, n), "1", nil)
	}
	set(in(here.Account, preferences.MaxRegions), "1", preferences.ErrTooManyRegions)
	set(in(here.Account, 0), "2", nil)
	set(in("444455556666", preferences.MaxRegions), "1", nil)
	set(in(here.Account, 0), "", nil)
	set(in(here.Account, preferences.MaxRegions), "1", nil)
}

// Nothing is stored until all programs can read it, and the data directory then has the format.
func TestFormatOfPreferences(t *testing.T) {
	notYet := errors.New("a node cannot read that")
	required := 0
	f := control.Formats{
		Ready:   func(int) error { return notYet },
		Require: func(format int) error { required = format; return nil },
	}
	p, _, _ := open(t, f)
	if err := p.Set(t.Context(), here, preferences.Values{
		"a": "1",
	}); !errors.Is(err, notYet) || p.Of(here) != nil || required != 0 {
		t.Errorf("%v, %v, format %d", err, p.Of(here), required)
	}
	f.Ready = func(int) error { return nil }
	p, _, _ = open(t, f)
	if err := p.Set(t.Context(), here, preferences.Values{"a": "1"}); err != nil || required != formats.Preferences {
		t.Errorf("%v, format %d", err, required)
	}
}

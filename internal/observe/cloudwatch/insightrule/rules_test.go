package insightrule_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insightrule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

var here = series.Scope{Account: "111122223333", Region: "us-east-1"}

func open(t *testing.T, f control.Formats) (*insightrule.Rules, *store.Store, func() *insightrule.Rules) {
	t.Helper()
	s := storetest.Memory(t)
	again := func() *insightrule.Rules {
		r, err := insightrule.Open(control.New(control.Options{Store: s}), f)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	return again(), s, again
}

func rule(name string) *insightrule.Rule {
	return &insightrule.Rule{
		Key: insightrule.Key{Scope: here, Name: name}, Definition: "{}", Enabled: true,
		Tags: map[string]string{"a": name},
	}
}

// Rules survive a restart, with any characters in their names. A replaced rule keeps its tags.
func TestRules(t *testing.T) {
	t.Parallel()
	r, s, again := open(t, control.Formats{})
	for _, is := range []*insightrule.Rule{rule("a/b %"), rule("c")} {
		if err := r.Put(t.Context(), is); err != nil {
			t.Fatal(err)
		}
	}
	other := rule("c")
	other.Definition, other.Tags = `{"a":1}`, nil
	if err := r.Put(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*insightrule.Rules{r, again()} {
		all := r.In(here)
		if len(all) != 2 || all[0].Name != "a/b %" || all[1].Definition != other.Definition ||
			!maps.Equal(all[1].Tags, rule("c").Tags) {
			t.Errorf("there are %v", all)
		}
	}
	if problems, err := insightrule.Check(s); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// Clients can make up regions, but these do not raise an account's number of rules without bound.
func TestMostRulesOfAccount(t *testing.T) {
	t.Parallel()
	r, _, _ := open(t, control.Formats{})
	put := func(account string, region int) error {
		is := rule("r")
		is.Account, is.Region = account, fmt.Sprint("made-up-", region)
		return r.Put(t.Context(), is)
	}
	for i := range insightrule.Quota.Account {
		if err := put(here.Account, i); err != nil {
			t.Fatal(err)
		}
	}
	refusal := series.QuotaError{Quota: insightrule.Quota, InAll: true}
	if err := put(here.Account, insightrule.Quota.Account); !errors.Is(err, refusal) {
		t.Error(err)
	}
	for account, region := range map[string]int{here.Account: 7, "444455556666": insightrule.Quota.Account} {
		if err := put(account, region); err != nil {
			t.Error(err)
		}
	}
}

// One change covers all existing rules. It names the others, and an error changes nothing.
func TestChange(t *testing.T) {
	t.Parallel()
	r, _, again := open(t, control.Formats{})
	for _, name := range []string{"a", "b"} {
		if err := r.Put(t.Context(), rule(name)); err != nil {
			t.Fatal(err)
		}
	}
	disable := func(is insightrule.Rule) (*insightrule.Rule, error) {
		is.Enabled = false
		return &is, nil
	}
	missing, err := r.Change(t.Context(), here, []string{"a", "x"}, disable)
	if err != nil || !slices.Equal(missing, []string{"x"}) || again().In(here)[0].Enabled ||
		!again().In(here)[1].Enabled {
		t.Errorf("%v %v", missing, err)
	}
	refusal := errors.New("no")
	_, err = r.Change(t.Context(), here, []string{"a", "b"}, func(is insightrule.Rule) (*insightrule.Rule, error) {
		if is.Name == "b" {
			return nil, refusal
		}
		return nil, nil
	})
	if !errors.Is(err, refusal) || len(again().In(here)) != 2 {
		t.Errorf("%v, and there are %v", err, again().In(here))
	}
	_, err = r.Change(t.Context(), here, []string{"a"},
		func(insightrule.Rule) (*insightrule.Rule, error) { return nil, nil })
	if err != nil || len(again().In(here)) != 1 {
		t.Errorf("%v, and there are %v", err, again().In(here))
	}
}

// No rule is stored until all programs can read it, and the data directory then has the format.
func TestFormatOfRules(t *testing.T) {
	t.Parallel()
	notYet := errors.New("a node cannot read that")
	required := 0
	f := control.Formats{
		Ready:   func(int) error { return notYet },
		Require: func(format int) error { required = format; return nil },
	}
	r, _, _ := open(t, f)
	if err := r.Put(t.Context(), rule("a")); !errors.Is(err, notYet) || len(r.In(here)) > 0 || required != 0 {
		t.Errorf("%v, format %d", err, required)
	}
	f.Ready = func(int) error { return nil }
	r, _, _ = open(t, f)
	if err := r.Put(t.Context(), rule("a")); err != nil || required != formats.Detectors {
		t.Errorf("%v, format %d", err, required)
	}
}

package muterule_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/muterule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

var (
	here = series.Scope{Account: "111122223333", Region: "us-east-1"}
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

func open(t *testing.T, f control.Formats) (*muterule.Rules, *store.Store, func() *muterule.Rules) {
	t.Helper()
	s := storetest.Memory(t)
	again := func() *muterule.Rules {
		r, err := muterule.Open(control.New(control.Options{Store: s}), f)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	return again(), s, again
}

func fine() error { return nil }

func rule(name string, alarms ...string) *muterule.Rule {
	return &muterule.Rule{
		Key: muterule.Key{Scope: here, Name: name}, Expression: "cron(0 12 * * *)", Duration: "PT1H", Timezone: "UTC",
		Alarms: alarms, Tags: map[string]string{"a": name},
	}
}

func put(t *testing.T, r *muterule.Rules, is *muterule.Rule) {
	t.Helper()
	if err := r.Put(t.Context(), is, fine); err != nil {
		t.Fatal(err)
	}
}

// Rules survive a restart, with any characters in their names. A replaced rule keeps its tags, and mutes the alarms
// that it now names.
func TestRules(t *testing.T) {
	t.Parallel()
	r, s, again := open(t, control.Formats{})
	put(t, r, rule("a/b %", "x", "y"))
	put(t, r, rule("c", "y"))
	before := r.Version()
	other := rule("c", "z")
	other.Tags = nil
	put(t, r, other)
	if r.Version() == before {
		t.Error("the version stays")
	}
	for _, r := range []*muterule.Rules{r, again()} {
		all := r.In(here)
		if len(all) != 2 || all[0].Name != "a/b %" || !maps.Equal(all[1].Tags, rule("c").Tags) {
			t.Errorf("there are %v", all)
		}
		for alarm, want := range map[string]bool{"x": true, "y": true, "z": true, "w": false} {
			if r.Mutes(here, alarm, noon) != want || r.Mutes(here, alarm, noon.Add(time.Hour)) ||
				r.Mutes(series.Scope{Account: here.Account, Region: "eu-west-1"}, alarm, noon) {
				t.Errorf("%s is muted: %v", alarm, !want)
			}
		}
	}
	if err := r.Delete(t.Context(), rule("a/b %").Key); err != nil || r.Mutes(here, "y", noon) ||
		!r.Mutes(here, "z", noon) {
		t.Errorf("%v", err)
	}
	if problems, err := muterule.Check(s); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	r, _, _ := open(t, control.Formats{})
	for name, change := range map[string]func(*muterule.Rule){
		"SCHEDULED ACTIVE SCHEDULED": func(*muterule.Rule) {},
		"SCHEDULED SCHEDULED SCHEDULED": func(r *muterule.Rule) {
			r.Start = noon.Add(24 * time.Hour)
		},
		"SCHEDULED EXPIRED EXPIRED": func(r *muterule.Rule) { r.Expire = noon.Add(30 * time.Minute) },
		"SCHEDULED ACTIVE EXPIRED":  func(r *muterule.Rule) { r.Expression = "at(2026-11-21T12:00)" },
	} {
		is := rule(name, "x")
		change(is)
		put(t, r, is)
		var got []string
		for _, at := range []time.Duration{-time.Minute, 30 * time.Minute, time.Hour} {
			got = append(got, string(r.Get(is.Key).Status(noon.Add(at))))
		}
		if strings.Join(got, " ") != name {
			t.Errorf("%v, want %s", got, name)
		}
	}
}

// A check refuses an invalid rule, and an account has a limited number of rules in a region. Existing ones can be
// replaced.
func TestPutRefuses(t *testing.T) {
	t.Parallel()
	r, _, _ := open(t, control.Formats{})
	refusal := errors.New("no")
	if err := r.Put(t.Context(), rule("a"), func() error { return refusal }); !errors.Is(err, refusal) ||
		len(r.In(here)) > 0 {
		t.Errorf("%v, and there are %v", err, r.In(here))
	}
	for i := range muterule.Quota.Region {
		put(t, r, rule(fmt.Sprint(i)))
	}
	if err := r.Put(t.Context(), rule("last"), fine); !errors.Is(err, series.QuotaError{Quota: muterule.Quota}) {
		t.Error(err)
	}
	put(t, r, rule("0", "x"))
	elsewhere := rule("last")
	elsewhere.Region = "eu-west-1"
	put(t, r, elsewhere)
}

// An account also has a limit for all regions together.
func TestPutRefusesInMadeUpRegions(t *testing.T) {
	t.Parallel()
	r, _, _ := open(t, control.Formats{})
	in := func(region int) *muterule.Rule {
		one := rule("a")
		one.Region = fmt.Sprint("region-", region)
		return one
	}
	for i := range muterule.Quota.Account {
		put(t, r, in(i))
	}
	refusal := series.QuotaError{Quota: muterule.Quota, InAll: true}
	if err := r.Put(t.Context(), in(muterule.Quota.Account), fine); !errors.Is(err, refusal) {
		t.Error(err)
	}
	put(t, r, in(0))
}

// The rules of an account are limited in bytes. A rule that does not grow is not refused.
func TestRulesHaveABoundInBytes(t *testing.T) {
	t.Parallel()
	r, _, again := open(t, control.Formats{})
	long := func(name string, n int) *muterule.Rule {
		one := rule(name)
		one.Description = new(strings.Repeat("d", n))
		return one
	}
	put(t, r, long("a", muterule.Space.Bytes/2))
	put(t, r, long("b", muterule.Space.Bytes/3))
	for _, r := range []*muterule.Rules{r, again()} {
		if err := r.Put(t.Context(), long("c", muterule.Space.Bytes/3), fine); !errors.Is(err, series.SpaceError{Space: muterule.Space}) {
			t.Error(err)
		}
		_, err := r.Retag(t.Context(), rule("b").Key, func(muterule.Rule) (map[string]string, error) {
			return map[string]string{"a": strings.Repeat("v", muterule.Space.Bytes/3)}, nil
		})
		if !errors.Is(err, series.SpaceError{Space: muterule.Space}) {
			t.Error(err)
		}
		put(t, r, long("a", muterule.Space.Bytes/2))
	}
	elsewhere := long("c", muterule.Space.Bytes/3)
	elsewhere.Account = "444455556666"
	put(t, r, elsewhere)
	put(t, r, long("a", 1))
	put(t, r, long("c", muterule.Space.Bytes/3))
}

func TestRetag(t *testing.T) {
	t.Parallel()
	r, _, again := open(t, control.Formats{})
	put(t, r, rule("a", "x"))
	set := func(name string) bool {
		found, err := r.Retag(t.Context(), rule(name).Key, func(muterule.Rule) (map[string]string, error) {
			return map[string]string{"b": "2"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if !set("a") || set("gone") || again().Get(rule("a").Key).Tags["b"] != "2" || !r.Mutes(here, "x", noon) {
		t.Errorf("the tags are %v", r.Get(rule("a").Key).Tags)
	}
}

// An invalid record mutes nothing, and the check names it.
func TestInvalidRecord(t *testing.T) {
	t.Parallel()
	r, s, again := open(t, control.Formats{})
	bad := rule("bad", "x")
	bad.Expression = "rate(1 day)"
	put(t, r, bad)
	if r.Mutes(here, "x", noon) || again().Get(bad.Key).Status(noon) != muterule.Expired {
		t.Error("it mutes")
	}
	problems, err := muterule.Check(s)
	if want := []string{"the alarm mute rule " + bad.ARN() +
		": the expression is neither cron(...) nor at(...)"}; err != nil || !slices.Equal(problems, want) {
		t.Errorf("%v %v", problems, err)
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
	if err := r.Put(t.Context(), rule("a"), fine); !errors.Is(err, notYet) || len(r.In(here)) > 0 || required != 0 {
		t.Errorf("%v, format %d", err, required)
	}
	f.Ready = func(int) error { return nil }
	r, _, _ = open(t, f)
	if err := r.Put(t.Context(), rule("a"), fine); err != nil || required != formats.Mutes {
		t.Errorf("%v, format %d", err, required)
	}
}

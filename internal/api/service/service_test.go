package service_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/store"
)

// Shortened text is still valid text, wherever it is cut.
func TestShorten(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "short", strings.Repeat("a", 1024)} {
		if got := service.Shorten(s); got != s {
			t.Errorf("%d bytes have become %q", len(s), got)
		}
	}
	for _, character := range []string{"a", "é", "€", "😀"} {
		for shift := range 4 {
			got := service.Shorten(strings.Repeat("x", shift) + strings.Repeat(character, 2000))
			if !utf8.ValidString(got) || len(got) > 1024+3 || len(got) < 1020 || !strings.HasSuffix(got, "...") {
				t.Errorf("%d bytes and many %s have become %d bytes, %q", shift, character, len(got), got[len(got)-10:])
			}
		}
	}
}

// Together the pages of a list are the list, even if entries are added and removed between two pages.
func TestPages(t *testing.T) {
	t.Parallel()
	itself := func(s string) string { return s }
	list := strings.Split("a b c d e f g", " ")
	for most := 1; most < 9; most++ {
		var got []string
		token := ""
		for {
			p, err := service.Paginate(list, itself, token, "letters", most)
			if err != nil || len(p.Items) > most {
				t.Fatalf("pages of %d: %v, %v", most, p, err)
			}
			got = append(got, p.Items...)
			if token = p.Next; token == "" {
				break
			}
		}
		if !slices.Equal(got, list) {
			t.Errorf("pages of %d: %v", most, got)
		}
	}
	first, err := service.Paginate(list, itself, "", "letters", 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := service.Paginate([]string{"b", "bb", "ca", "d"}, itself, first.Next, "letters", 3) // c has gone
	if err != nil || !slices.Equal(p.Items, []string{"ca", "d"}) || p.Next != "" {
		t.Errorf("after changes: %v, %v", p, err)
	}
	if p, err := service.Paginate([]string(nil), itself, first.Next, "letters", 3); err != nil || len(p.Items) > 0 {
		t.Errorf("of an empty list: %v, %v", p, err)
	}
	if _, err := service.Paginate(list, itself, first.Next, "words", 3); !errors.Is(err, service.ErrOtherList) {
		t.Errorf("another list: %v", err)
	}
	for _, token := range []string{"x", "!", first.Next + "A", "AA", "YQ"} {
		if _, err := service.Paginate(list, itself, token, "letters", 3); !errors.Is(err, service.ErrToken) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

func FuzzPaginate(f *testing.F) {
	f.Add("YQBs", "l", 2)
	f.Fuzz(func(t *testing.T, token, about string, most int) {
		list := []string{"a", "b", "c"}
		p, err := service.Paginate(list, func(s string) string { return s }, token, about, 1+most&3)
		if err == nil && len(p.Items) > 3 {
			t.Errorf("%v", p)
		}
	})
}

// A request is authorized with the facts of its subject, and refused in the service's name.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	rules := &policy.Rules{Vendor: "sns", Actions: []string{"sns:Publish"}}
	a := service.NewAuthorizer(nil, rules, nil)
	const owner, topic = "000000000000", "arn:aws:sns:us-east-1:000000000000:t"
	root := func(account string) *protocol.Call {
		return &protocol.Call{Identity: new(identity.Root(account, "AKIA")), SourceIP: "10.0.0.1"}
	}
	about := func(condition string) service.Subject {
		return service.Subject{
			Resource: service.ARN(topic), Owner: owner, Tags: map[string]string{"team": "a"},
			NewTags: map[string]string{"cost": "1"},
			Policy:  fmt.Sprintf(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"sns:Publish","Resource":"*","Condition":{%s}}}`, condition),
			Lookup:  func(name string) (policy.Value, bool) { return policy.Text("email"), name == "sns:protocol" },
		}
	}
	for condition, want := range map[string]bool{
		`"StringEquals":{"aws:ResourceTag/team":"a"}`: true, `"StringEquals":{"aws:ResourceTag/team":"b"}`: false,
		`"StringEquals":{"aws:RequestTag/cost":"1"}`: true, `"StringEquals":{"sns:Protocol":"email"}`: true,
		`"StringEquals":{"sns:Endpoint":"email"}`: false, `"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}`: true,
	} {
		for who, c := range map[string]*protocol.Call{
			"another account": root("111111111111"), "anonymous": {SourceIP: "10.0.0.1"},
		} {
			err := a.Authorize(c, about(condition), "sns:Publish")
			if denial, _ := errors.AsType[*access.Denial](err); (err == nil) != want ||
				(err != nil) != (denial != nil) {
				t.Errorf("%s, %s: %v", who, condition, err)
			}
		}
	}
	if err := a.Authorize(root(owner), service.Subject{Resource: service.ARN("*")}, "sns:Publish",
		"sns:CreateTopic"); err != nil {
		t.Errorf("the root, on its own: %v", err)
	}
	err := a.Authorize(&protocol.Call{}, about(`"StringEquals":{"sns:Endpoint":"x"}`), "sns:Publish")
	if e := protocol.AsError(err); e.Status != 403 || !strings.Contains(e.Message, "sns:Publish on resource: "+topic) {
		t.Errorf("%v", err)
	}
}

// The state of the disk is described in a sentence, which is recognized when it is read back.
func TestFailures(t *testing.T) {
	t.Parallel()
	stuck := service.Failure(fmt.Errorf("commit: %w", &store.BlockedError{Reason: "it is full"}))
	full := service.NoRoom(errors.New("There is little room."))
	for err, want := range map[error]string{
		stuck: "The disk of the server cannot be written: it is full. Please try again later.",
		full:  "There is little room.",
	} {
		if e := protocol.AsError(err); e.Status != 503 || e.Message != want || !service.OfTheDisk(err) {
			t.Errorf("%v", e)
		}
	}
	if err := service.Failure(io.EOF); !errors.Is(err, io.EOF) || service.OfTheDisk(err) {
		t.Errorf("%v", err)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	list := []service.Tag{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}}
	m, err := service.TagMap([]service.Tag{list[1], list[0]})
	if err != nil || !slices.Equal(service.TagList(m), list) {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := service.TagMap(append(list, service.Tag{Key: "a"})); !errors.Is(err, service.ErrTagTwice) {
		t.Errorf("%v", err)
	}
}

package trail_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

const (
	account = "111122223333"
	other   = "444455556666"
)

// world is a trail in memory, with a stopped clock.
type world struct {
	*trail.Trail
	control *control.Control
	now     time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := storetest.Memory(t)
	w := &world{control: control.New(control.Options{Store: s}), now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}
	w.Trail = trail.New(trail.Options{Control: w.control, Now: func() time.Time { return w.now }})
	return w
}

type input struct {
	Name   string            `max:"64"`
	Secret string            `max:"64" hidden:""`
	Tags   map[string]string `max:"50,128,256"`
}

type output struct {
	Url      string
	KeyValue string `hidden:""`
}

// operation returns an operation of a name.
func operation(name string) *protocol.Operation {
	wire := protocol.NewService(protocol.Service{Name: "sqs", Target: "T"})
	protocol.Register(wire, name, func(context.Context, *protocol.Call, *input) (*output, error) { return nil, nil })
	return wire.Operations()[0]
}

// begin returns the record of a call by the root of an account.
func (w *world) begin(name, account string) (*trail.Record, *protocol.Call, *protocol.Operation) {
	op := operation(name)
	c := &protocol.Call{
		Service: "sqs", Operation: name, RequestID: "r-1", Region: "us-east-1", SourceIP: "10.0.0.1",
		UserAgent: "agent", Host: "h", TLS: true,
	}
	who := identity.Root(account, "AKIA1")
	return w.Begin(c, op, &who, w.now), c, op
}

func (w *world) all(t *testing.T, account string) []trail.Found {
	t.Helper()
	w.Write(t.Context(), nil)
	found, cursor, err := w.Find(trail.Query{Account: account, Max: 1000})
	if err != nil || cursor != "" {
		t.Fatal(cursor, err)
	}
	return found
}

var errDisk = errors.New("the disk is gone")

// The event of a change exists if and only if the change does.
func TestEventIsInTheCommitOfTheChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, _, op := w.begin("CreateThing", account)
	r.Parameters(op.Parameters(&input{Name: "jobs", Secret: "hush", Tags: map[string]string{"Team": "red"}}))
	ctx := r.Changes(t.Context())
	if err := w.control.Change(ctx, func(*control.Tx) error { return errDisk }); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	if found := w.all(t, account); len(found) != 0 {
		t.Errorf("a change that was not made has %v", found)
	}
	if err := w.control.Change(ctx, func(tx *control.Tx) error { tx.Put("thing", nil); return nil }); err != nil {
		t.Fatal(err)
	}
	found := w.all(t, account)
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	const want = `{"eventVersion":"1.11","userIdentity":{"type":"Root","principalId":"111122223333","arn":"arn:aws:iam::111122223333:root",` +
		`"accountId":"111122223333","accessKeyId":"AKIA1"},"eventTime":"2026-11-22T09:00:00Z","eventSource":"sqs.amazonaws.com",` +
		`"eventName":"CreateThing","awsRegion":"us-east-1","sourceIPAddress":"10.0.0.1","userAgent":"agent",` +
		`"requestParameters":{"name":"jobs","secret":"HIDDEN_DUE_TO_SECURITY_REASONS","tags":{"Team":"red"}},"responseElements":null,` +
		`"requestID":"r-1","eventID":"ID","readOnly":false,"eventType":"AwsApiCall","managementEvent":true,` +
		`"recipientAccountId":"111122223333","eventCategory":"Management","tlsDetails":{"clientProvidedHostHeader":"h"}}`
	if got := strings.Replace(found[0].Text, found[0].EventID, "ID", 1); got != want {
		t.Errorf("the event is\n%s, want\n%s", got, want)
	}

	// The answer to the call is added later to the same event.
	r.End(op.Elements(&output{Url: "http://x", KeyValue: "hush"}), nil)
	after := w.all(t, account)
	if len(after) != 1 || after[0].EventID != found[0].EventID ||
		string(after[0].ResponseElements) != `{"url":"http://x","keyValue":"HIDDEN_DUE_TO_SECURITY_REASONS"}` {
		t.Errorf("found %+v", after)
	}
}

// A change may continue after its call has ended, because the disk was blocked. Then there is one event, which has the
// answer to the call.
func TestEventOfAChangeThatOutlivesItsCall(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the call ends first", "the change is decided first", "at once"} {
		w := newWorld(t)
		r, _, _ := w.begin("CreateThing", account)
		ctx := r.Changes(t.Context())
		change := func() error {
			return w.control.Change(ctx, func(tx *control.Tx) error { tx.Put("thing", nil); return nil })
		}
		end := func() { r.End(nil, protocol.ServiceUnavailable()) }
		var err error
		switch first {
		case "the call ends first":
			end()
			err = change()
		case "the change is decided first":
			err = change()
			end()
		default:
			var wg sync.WaitGroup
			wg.Go(end)
			err = change()
			wg.Wait()
		}
		found := w.all(t, account)
		if err != nil || len(found) != 1 || found[0].ErrorCode != protocol.ServiceUnavailable().Code {
			t.Errorf("%s: %v, found %+v", first, err, found)
		}
	}
}

// Calls that change nothing and refused calls also have events.
func TestOtherEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, _, op := w.begin("ListThings", account)
	r.Parameters(op.Parameters(&input{}))
	r.End(op.Elements(&output{Url: "http://x"}), nil)
	w.now = w.now.Add(time.Second)
	r, c, _ := w.begin("DeleteThing", account)
	c.About.ARN, c.About.Owner = "arn:aws:sqs:us-east-1:"+other+":jobs", other
	r.End(nil, protocol.AccessDenied("You may not. %s", strings.Repeat("x", 5000)))

	found := w.all(t, account)
	if len(found) != 2 || found[0].EventName != "DeleteThing" || found[1].EventName != "ListThings" {
		t.Fatalf("found %+v", found)
	}
	if e := found[1]; !e.ReadOnly || string(e.RequestParameters) != "null" || string(e.ResponseElements) != "null" ||
		e.ErrorCode != "" {
		t.Errorf("a read has %s", e.Text)
	}
	e := found[0]
	if e.ErrorCode != "AccessDenied" || !strings.HasPrefix(e.ErrorMessage, "You may not.") ||
		len(e.ErrorMessage) > 1100 ||
		len(e.Resources) != 1 ||
		e.Resources[0] != (trail.Resource{
			AccountID: other, Type: "AWS::SQS::Queue", ARN: "arn:aws:sqs:us-east-1:" + other + ":jobs",
		}) {
		t.Errorf("a refusal has %s", e.Text)
	}
	// The owner of the resource has its own event.
	theirs := w.all(t, other)
	if len(theirs) != 1 || theirs[0].SharedEventID == "" || theirs[0].SharedEventID != e.SharedEventID ||
		theirs[0].EventID == e.EventID ||
		theirs[0].RecipientAccountID != other || theirs[0].UserIdentity.AccountID != account {
		t.Errorf("the owner has %+v", theirs)
	}
}

// Parts that are too long for an event are omitted, and every event is JSON.
func TestLongAndStrangeParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{strings.Repeat("n", 30_000), "\xff\xfe", "a\x00b\u2028\"", `\u0000`} {
		r, _, op := w.begin("CreateThing", account)
		r.Parameters(op.Parameters(&input{Name: name}))
		r.End(op.Elements(new(output)), nil)
	}
	for _, f := range w.all(t, account) {
		if !json.Valid([]byte(f.Text)) || len(f.Text) > 2000 {
			t.Errorf("an event of %d bytes: %.300s", len(f.Text), f.Text)
		}
	}
}

// The pages together have all events of all classes once, however short the pages are.
func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for i := range 40 {
		w.now = w.now.Add(time.Duration(i%3) * time.Second)
		r, c, op := w.begin(fmt.Sprintf("Do%dThing", i), account)
		if i%4 == 0 {
			c.About.ARN, c.About.Owner = "arn:aws:sqs:us-east-1:"+other+":jobs", other
		}
		if i%2 == 0 {
			if err := w.control.Change(r.Changes(t.Context()),
				func(tx *control.Tx) error { tx.Put("thing", nil); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		r.End(op.Elements(new(output)), nil)
	}
	for _, f := range w.all(t, account) {
		want = append(want, f.EventID)
	}
	if len(want) != 40 {
		t.Fatalf("%d events", len(want))
	}
	for size := 1; size < 10; size++ {
		var got []string
		q := trail.Query{Account: account, Max: size}
		for pages := 0; ; pages++ {
			found, cursor, err := w.Find(q)
			if err != nil || len(found) > size || pages > 100 {
				t.Fatal(len(found), pages, err)
			}
			for _, f := range found {
				got = append(got, f.EventID)
			}
			if q.Cursor = cursor; cursor == "" {
				break
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in pages of %d: %d events\n%v\nwant\n%v", size, len(got), got, want)
		}
	}
	if _, _, err := w.Find(trail.Query{Account: account, Max: 1, Cursor: "x"}); !errors.Is(err, trail.ErrCursor) {
		t.Error(err)
	}
	between := trail.Query{
		Account: account, Max: 100, From: w.now.Add(-9 * time.Second), To: w.now.Add(-3 * time.Second),
	}
	found, _, err := w.Find(between)
	if err != nil || len(found) == 0 {
		t.Fatal(len(found), err)
	}
	for _, f := range found {
		if f.EventTime.Before(between.From) || f.EventTime.After(between.To) {
			t.Errorf("an event of %s", f.EventTime)
		}
	}
}

// Old events of all classes are removed, and the others stay. A look-up ends with its client, counts its reads, and is
// refused when others hold the memory.
func TestLookUpsHaveABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 20 {
		r, _, op := w.begin("CreateThing", account)
		r.Parameters(op.Parameters(&input{Name: "jobs"}))
		if err := w.control.Change(r.Changes(t.Context()),
			func(tx *control.Tx) error { tx.Put("thing", nil); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	find := func(ctx context.Context) (*budget.Request, error) {
		_, _, err := w.Find(trail.Query{Account: account, Max: 50, Request: budget.Of(ctx)})
		return budget.Of(ctx), err
	}
	ctx, end := budget.New(budget.Size).Begin(t.Context(), account)
	defer end()
	if r, err := find(ctx); err != nil || r.Worked() != 20 || r.Held() < 20*400 {
		t.Errorf("%d events, %d bytes, %v", r.Worked(), r.Held(), err)
	}
	small, end := budget.New(4096).Begin(t.Context(), account)
	defer end()
	if _, err := find(small); err == nil || !strings.Contains(err.Error(), "2048 bytes") {
		t.Errorf("%v", err)
	}
	parent, cancel := context.WithCancel(t.Context())
	gone, end := budget.New(budget.Size).Begin(parent, account)
	defer end()
	cancel()
	if _, err := find(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		r, _, op := w.begin("CreateThing", account)
		if err := w.control.Change(r.Changes(t.Context()),
			func(tx *control.Tx) error { tx.Put("thing", nil); return nil }); err != nil {
			t.Fatal(err)
		}
		r.End(op.Elements(new(output)), nil)
		r, _, op = w.begin("ListThings", account)
		r.End(op.Elements(new(output)), nil)
		w.Write(t.Context(), nil)
		w.now = w.now.Add(trail.Retention - time.Hour)
	}
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if found := w.all(t, account); len(found) != 2 {
		t.Errorf("%d events are left", len(found))
	}
}

// When there are too many events, each account keeps the same share of the older ones. An account with many calls
// displaces no events of others, even if its calls name another account.
func TestTrimIsFair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	call := func(name, account, on string) {
		r, c, op := w.begin(name, account)
		if on != "" {
			c.About.ARN, c.About.Owner = "arn:aws:sqs:us-east-1:"+on+":jobs", on
		}
		r.Parameters([]byte(`{"recipientAccountId":"999999999999","x":"` + strings.Repeat("x", 1000) + `"}`))
		r.End(op.Elements(new(output)), nil)
		w.now = w.now.Add(time.Second)
	}
	for i := range 10 {
		call("ListThings", account, "")
		for range 200 {
			call(fmt.Sprintf("List%d", i), other, "")
			call("Intrude", other, account)
		}
		w.Write(t.Context(), nil)
	}
	own := func(e *trail.Event) bool { return e.UserIdentity.AccountID == account }
	left := func(of string, wanted func(*trail.Event) bool) int {
		found, _, err := w.Find(trail.Query{Account: of, Wanted: wanted, Max: 5000})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for range 2 { // a repetition removes no more
		if err := w.Share(60 << 10); err != nil {
			t.Fatal(err)
		}
		if n := left(account, own); n != 10 {
			t.Errorf("%d calls of the quiet account are left", n)
		}
		if n := left(account, nil); n < 15 || n > 30 {
			t.Errorf("with those of others, %d are left", n)
		}
		if n := left(other, nil); n < 5 || n > 20 {
			t.Errorf("%d of the busy account are left", n)
		}
	}
}

// Events that cannot be written wait, up to a limit, and reach another owner of the control store.
func TestWaiting(t *testing.T) {
	t.Parallel()
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := &world{control: control.New(control.Options{Store: s, Follow: true}), now: time.Now()}
	w.Trail = trail.New(trail.Options{Control: w.control})
	for range trail.MaxPending + 7 {
		r, _, op := w.begin("ListThings", account)
		r.End(op.Elements(new(output)), nil)
	}
	if n := w.Dropped(); n != 7 {
		t.Errorf("%d dropped", n)
	}
	w.Write(t.Context(), func(context.Context, []trail.Entry) error { return errDisk })
	owner := newWorld(t)
	sent := 0
	w.Write(t.Context(), func(_ context.Context, events []trail.Entry) error {
		sent += len(events)
		owner.Append(events)
		return nil
	})
	if sent != trail.MaxPending {
		t.Errorf("%d sent", sent)
	}
	owner.Write(t.Context(), nil)
	if found, _, err := owner.Find(trail.Query{Account: account, Max: 20_000}); err != nil || len(found) != sent {
		t.Errorf("the owner has %d, %v", len(found), err)
	}
}

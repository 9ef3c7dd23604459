package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// pair is two servers with copies of one control store, which the first one owns. Each has its own messages.
type pair struct {
	owner, other *Server
	changes      atomic.Int64 // number of commits to the control store; the owner makes all of them
	forwarded    atomic.Int64 // requests from other to owner
	broken       atomic.Bool  // other cannot reach owner
	outdated     atomic.Bool  // and has not for long

	catchUp func(context.Context) error // of other
	own     func() (end func())         // makes owner the owner
	end     func()                      // ends that

	mu     sync.Mutex
	slow   bool     // the owner's changes do not reach other by themselves
	behind [][]byte // changes that have not arrived yet
}

// deliver passes the missing changes to other.
func (p *pair) deliver(to *store.Store, c *control.Control) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, batch := range p.behind {
		tx := to.Begin()
		err := store.Changes(batch, func(ch store.Change) error {
			if ch.Kind == store.ChangeSet {
				tx.Set(ch.Key, ch.Value)
			} else {
				tx.Delete(ch.Key)
			}
			return nil
		})
		err = errors.Join(err, to.Commit(tx), c.Apply(batch))
		tx.Release()
		if err != nil {
			return err
		}
	}
	p.behind = nil
	return nil
}

func (p *pair) setSlow(slow bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = slow
}

// newControls returns the copies of a control store, the owner's first. p counts each commit.
func (p *pair) newControls(t *testing.T) (owner, other *control.Control) {
	t.Helper()
	var stores []*store.Store
	for range 2 {
		s, err := store.OpenMemory(store.Options{})
		apitest.Must(t, s, err)
		t.Cleanup(func() { apitest.Must(t, 0, s.Close()) })
		stores = append(stores, s)
	}
	owner = control.New(control.Options{Store: stores[0], Follow: true})
	other = control.New(control.Options{Store: stores[1], Follow: true})
	p.own = func() (end func()) { return owner.Own(p.commit(stores, owner, other)) }
	p.end = p.own()
	p.catchUp = func(context.Context) error {
		if p.broken.Load() {
			return errors.New("no connection")
		}
		return p.deliver(stores[1], other)
	}
	apitest.Must(t, 0, errors.Join(owner.Register("test/", nopReader{}), other.Register("test/", nopReader{})))
	return owner, other
}

// commit returns the owner's way to commit.
func (p *pair) commit(stores []*store.Store, owner, other *control.Control) func(*store.Txn) error {
	return func(tx *store.Txn) error {
		batch := bytes.Clone(tx.Bytes())
		if hasRecords(batch) {
			p.changes.Add(1)
		}
		if err := errors.Join(stores[0].Commit(tx), owner.Apply(batch)); err != nil {
			return err
		}
		p.mu.Lock()
		p.behind = append(p.behind, batch)
		slow := p.slow
		p.mu.Unlock()
		if slow {
			return nil
		}
		return p.deliver(stores[1], other)
	}
}

// hasRecords distinguishes a change of a record from one that only adds to the trail, which happens at any time.
func hasRecords(batch []byte) (found bool) {
	_ = store.Changes(batch, func(c store.Change) error {
		found = found || !bytes.HasPrefix(c.Key, []byte("\xfftrail/"))
		return nil
	})
	return found
}

// sentRequest is the first byte of a client's request that a node passes to the owner of the control store.
const sentRequest = 1

func newPair(t *testing.T, change func(owner, other *Config)) *pair {
	t.Helper()
	p := new(pair)
	one, two := inMemory(), inMemory()
	mine, copied := p.newControls(t)
	one.Join = joined(mine)
	two.Join = joining(&fakeNode{control: copied, catchUp: p.catchUp, current: p.current,
		forward: func(ctx context.Context, payload []byte) ([]byte, error) {
			if payload[0] == sentRequest {
				p.forwarded.Add(1)
			}
			if p.broken.Load() {
				return nil, errors.New("no connection")
			}
			if len(payload) > 1<<20 {
				t.Errorf("a payload of %d bytes", len(payload))
			}
			answer, err := p.owner.peers.serveForwarded(ctx, bytes.Clone(payload))
			return answer, errors.Join(err, p.catchUp(ctx))
		}})
	change(&one, &two)
	fresh := one
	fresh.Data = t.TempDir()
	apitest.Must(t, 0, Initialise(&fresh, mine))
	p.owner, _ = start(t, one)
	p.other, _ = start(t, two)
	return p
}

// current is other's answer to Current.
func (p *pair) current() error {
	if p.outdated.Load() {
		return errors.New("no connection for long")
	}
	return nil
}

func alike(*Config, *Config) {}

// A request is verified twice and answered once: the client gets the owner's answer, with the id that the first node
// has assigned.
func TestForwardedAnswers(t *testing.T) {
	t.Parallel()
	var log journal
	p := newPair(t, func(_, other *Config) {
		other.LogRequests, other.Logger = true, slog.New(slog.NewTextHandler(&log, nil))
	})
	for _, d := range apitest.Dialects {
		here, there := clientOf(t, p.other, d), clientOf(t, p.owner, d)
		there.Region = here.Region
		bad := object{"QueueName": "q", "Attributes": object{"DelaySeconds": "x"}}
		a, b := here.Call("CreateQueue", bad), there.Call("CreateQueue", bad)
		if a.Failed != b.Failed || a.Status != 400 || a.Header.Get("Content-Type") != b.Header.Get("Content-Type") ||
			a.Header.Get("X-Amzn-Query-Error") != b.Header.Get("X-Amzn-Query-Error") {
			t.Errorf("%s: %d %s %v, the owner itself says %d %s %v", d, a.Status, a.Body, a.Header, b.Status, b.Body,
				b.Header)
		}
		a = here.Call("CreateQueue", object{"QueueName": "q"})
		id := a.Header.Get("X-Amzn-Requestid")
		if d != inJSON && !strings.Contains(string(a.Body), id) {
			t.Errorf("%s: the id is %s in the header and another in %s", d, id, a.Body)
		}
		if log.count("request_id="+id) != 1 || log.count("relayed=true") == 0 {
			t.Errorf("%s: %s is not in the log", d, id)
		}
		// A caller without permission is refused without a call to another node.
		forwarded := p.forwarded.Load()
		stranger := here.As(identity.Credential{
			Identity: identity.Identity{AccessKeyID: "AKIAIOSFODNN7EXAMPLE"}, Secret: "secret",
		})
		unsigned := here.Send("CreateQueue", here.Request("CreateQueue", object{"QueueName": "q"}))
		for _, a := range []*answer{stranger.Call("CreateQueue", object{"QueueName": "q"}), unsigned} {
			if a.Status != http.StatusForbidden || p.forwarded.Load() != forwarded {
				t.Errorf("%s: a stranger: %d %s", d, a.Status, a.Body)
			}
		}
	}
	// Bodies may be large, but not larger than this.
	c := clientOf(t, p.other, inJSON)
	if a := c.Call("TagQueue", object{
		"QueueUrl": c.URL("q"), "Tags": object{"k": strings.Repeat("v", 768<<10)},
	}); a.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge request: %d %s", a.Status, a.Body)
	}
}

// A presigned URL also changes the control store through another node.
func TestForwardedPresigned(t *testing.T) {
	t.Parallel()
	p := newPair(t, alike)
	c := clientOf(t, p.other, inURL)
	r, err := http.NewRequest(http.MethodGet,
		p.other.Endpoint()+"/?Action=CreateQueue&QueueName=pre%73igned&Version=2012-11-05&X-Amz-Expires=60", nil)
	apitest.Must(t, r, err)
	credentials := aws.Credentials{AccessKeyID: c.Cred.AccessKeyID, SecretAccessKey: c.Cred.Secret}
	uri, headers, err := v4.NewSigner().PresignHTTP(t.Context(), credentials, r, apitest.BodyHash(t, r), "sqs",
		c.Region, time.Now())
	apitest.Must(t, uri, err)
	signed, err := http.NewRequest(http.MethodGet, uri, nil)
	apitest.Must(t, signed, err)
	for name, values := range headers {
		signed.Header[name] = values
	}
	if status, body := apitest.Exchange(t, signed); status != http.StatusOK || p.forwarded.Load() != 1 {
		t.Errorf("%d %s, forwarded %d times", status, body, p.forwarded.Load())
	}
	c.Make("SendMessage", object{"QueueUrl": c.URL("presigned"), "MessageBody": "m"})
}

// Conditions see the client as the first node saw it, with its address and time.
func TestForwardedFacts(t *testing.T) {
	t.Parallel()
	late := new(apitest.Clock)
	p := newPair(t, func(owner, other *Config) {
		other.TrustedProxies = []string{"127.0.0.1"} // only there
		owner.Now = late.Now
	})
	root := apitest.RootActor(p.owner.Endpoint(), p.owner.Root())
	_, id := root.User(t, "bob", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"*",
		"Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"},"Bool":{"aws:SecureTransport":"true"}}}}`)
	bob, _ := p.other.entrance.front.Keys.Lookup(id)
	late.Forward(10 * time.Minute) // within the validity of a signature, but not twice that
	for i, tc := range []struct {
		from, proto string
		age         time.Duration
		status      int
	}{
		{"10.1.2.3", "https", 0, 200}, {"10.1.2.3", "https", 10 * time.Minute, 200},
		{"10.1.2.3", "https", time.Hour, 403},
		{"192.0.2.1", "https", 0, 403}, {"10.1.2.3", "http", 0, 403},
	} {
		c := clientOf(t, p.other, inForm).As(bob)
		r := c.Request("CreateQueue", object{"QueueName": fmt.Sprint("q", i)})
		r.Header.Set("X-Forwarded-For", tc.from)
		r.Header.Set("X-Forwarded-Proto", tc.proto)
		r.Header.Set("X-Note", "caf\xe9") // invalid UTF-8, but signed
		apitest.SignAt(t, r, bob, "sqs", c.Region, time.Now().Add(-tc.age))
		a := c.Send("CreateQueue", r)
		if a.Status != tc.status {
			t.Errorf("%+v: %d %s", tc, a.Status, a.Body)
		}
		if a.Status == 200 && !strings.HasPrefix(a.Result["QueueUrl"].(string), "https://") {
			t.Errorf("%+v: %s", tc, a.Body)
		}
	}
}

// If the owner of the control store is unreachable, or has just handed it over, the client gets an error that asks it
// to retry.
func TestForwardedToNobody(t *testing.T) {
	t.Parallel()
	p := newPair(t, alike)
	for _, d := range apitest.Dialects {
		c := clientOf(t, p.other, d)
		unavailable := generic("ServiceUnavailableException", "ServiceUnavailable", 503,
			"The service is temporarily unavailable. Please try again.")
		p.broken.Store(true)
		c.Fails("CreateQueue", object{"QueueName": "q"}, unavailable)
		p.broken.Store(false)
		p.end()
		before := p.forwarded.Load()
		c.Fails("CreateQueue", object{"QueueName": "q"}, unavailable)
		if n := p.forwarded.Load() - before; n != 1 {
			t.Errorf("%s: it was forwarded %d times", d, n)
		}
		p.end = p.own()
		c.Make("CreateQueue", object{"QueueName": "q"})
	}
	for _, payload := range [][]byte{nil, {0}, {1}, {1, 200, 1}, {2, 1, 7}, {99, 0}} {
		if answer, err := p.owner.peers.serveForwarded(t.Context(), payload); err == nil {
			t.Errorf("%v is answered with %q", payload, answer)
		}
	}
}

// A change through one node is visible to the next request through another, be it a queue, a key or a permission, even
// if the change has not arrived there. An answer that something is missing waits until the node is sure.
func TestNodeThatIsBehind(t *testing.T) {
	t.Parallel()
	p := newPair(t, alike)
	p.setSlow(true)
	rootKey := p.owner.Root()
	root := apitest.RootActor(p.owner.Endpoint(), rootKey)
	for _, d := range apitest.Dialects {
		here, there := clientOf(t, p.owner, d), clientOf(t, p.other, d)
		there.Region = here.Region
		here.Make("CreateQueue", object{"QueueName": "q"})
		there.Make("SendMessage", object{"QueueUrl": there.URL("q"), "MessageBody": "m"})
		here.Make("CreateQueue", object{"QueueName": "r"})
		there.Make("GetQueueUrl", object{"QueueName": "r"})

		_, id := root.User(t, "bob-"+d.String(), "")
		cred, _ := p.owner.entrance.front.Keys.Lookup(id)
		bob := there.As(cred)
		if a := bob.Call("ReceiveMessage", object{
			"QueueUrl": there.URL("q"),
		}); a.Failed.Code != "AccessDenied" && a.Failed.Code != "AccessDeniedException" {
			t.Errorf("%s: %d %s", d, a.Status, a.Body)
		}
		status, body := call(t, p.owner, "iam", url.Values{
			"Action": {"PutUserPolicy"}, "Version": {"2010-05-08"}, "UserName": {"bob-" + d.String()},
			"PolicyName":     {"own"},
			"PolicyDocument": {apitest.Allow("sqs:*", "*")},
		}.Encode(), &rootKey)
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		bob.Make("ReceiveMessage", object{"QueueUrl": there.URL("q")})

		// A body that is read only in part before the key is checked.
		_, id = root.User(t, "eve-"+d.String(), apitest.Allow("sqs:*", "*"))
		cred, _ = p.owner.entrance.front.Keys.Lookup(id)
		there.As(cred).Make("SendMessage", object{
			"QueueUrl": there.URL("q"), "MessageBody": strings.Repeat("m", 128<<10),
		})

		none := refusal{
			Shape: "com.amazonaws.sqs#QueueDoesNotExist", Code: "AWS.SimpleQueueService.NonExistentQueue", Status: 400,
			Message:      "The specified queue does not exist.",
			QueryMessage: "The specified queue does not exist for this wsdl version.",
		}
		there.Fails("PurgeQueue", object{"QueueUrl": there.URL("none")}, none)
		p.broken.Store(true)
		there.Fails("PurgeQueue", object{"QueueUrl": there.URL("none")},
			generic("ServiceUnavailableException", "ServiceUnavailable", 503,
				"The service is temporarily unavailable. Please try again."))
		here.Fails("PurgeQueue", object{"QueueUrl": there.URL("none")}, none)
		there.Make("SendMessage", object{"QueueUrl": there.URL("q"), "MessageBody": "m"})
		p.broken.Store(false)
	}
}

// A node that has been cut off for long answers nothing that depends on its knowledge of queues and permissions, which
// others may have changed. It still reports the status of the cluster, and that it is not ready.
func TestNodeThatIsCutOff(t *testing.T) {
	t.Parallel()
	p := newPair(t, alike)
	for _, d := range apitest.Dialects {
		c := clientOf(t, p.other, d)
		c.Make("CreateQueue", object{"QueueName": "q"})
		p.outdated.Store(true)
		unavailable := generic("ServiceUnavailableException", "ServiceUnavailable", 503,
			"The service is temporarily unavailable. Please try again.")
		c.Fails("GetQueueUrl", object{"QueueName": "q"}, unavailable)
		c.Fails("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"}, unavailable)
		c.Fails("CreateQueue", object{"QueueName": "r"}, unavailable)
		if status, body := callAdmin(t, p.other, "DescribeCluster", `{}`); status != http.StatusOK {
			t.Errorf("DescribeCluster: %d %s", status, body)
		}
		p.outdated.Store(false)
		c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
	}
}

// The last use of a key eventually reaches all nodes, wherever it was used.
func TestUsesReachTheOwner(t *testing.T) {
	t.Parallel()
	p := newPair(t, alike)
	root := apitest.RootActor(p.owner.Endpoint(), p.owner.Root())
	_, id := root.User(t, "bob", apitest.Allow("sqs:*", "*"))
	cred, _ := p.other.entrance.front.Keys.Lookup(id)
	c := clientOf(t, p.other, inJSON).As(cred)
	c.Make("ListQueues", nil)
	lastUse := func(s *Server) string {
		u, _ := s.accounts.directory.Key(id).LastUse()
		return u.Service + " " + u.Region
	}
	if got := lastUse(p.owner); got != " " {
		t.Errorf("the owner knows already: %s", got)
	}
	apitest.Must(t, 0, p.other.accounts.directory.SaveUses(t.Context(), p.other.entrance.front.SendUses))
	apitest.Must(t, 0, p.owner.accounts.directory.SaveUses(t.Context(), p.owner.entrance.front.SendUses))
	for name, s := range map[string]*Server{"owner": p.owner, "other": p.other} {
		if got := lastUse(s); got != "sqs "+c.Region {
			t.Errorf("%s: used for %q", name, got)
		}
	}
	forwarded := p.forwarded.Load()
	apitest.Must(t, 0, p.other.accounts.directory.SaveUses(t.Context(), func(context.Context, directory.Uses) error {
		return errors.New("there is nothing new")
	}))
	if n := p.forwarded.Load(); n != forwarded {
		t.Error("it is sent again")
	}
}

// A node of a cluster can become a single node, with the cluster's keys.
func TestNodeLeavesCluster(t *testing.T) {
	t.Parallel()
	alone := onDisk(t.TempDir())
	records, err := store.Open(filepath.Join(alone.Data, ControlDir), store.Options{})
	apitest.Must(t, records, err)
	apitest.Must(t, 0, Initialise(&alone, control.New(control.Options{Store: records})))
	roots, vault, _, err := identity.Check(records)
	apitest.Must(t, vault, err)
	apitest.Must(t, 0, records.Close())
	alone.Accounts = append(alone.Accounts, "333333333333")
	s, stop := start(t, alone)
	if want, _ := roots.Root(account); !reflect.DeepEqual(s.Root(), want) || !s.accounts.vault.Same(vault) {
		t.Errorf("the root key is %v now", s.Root())
	}
	added, ok := s.accounts.credentials.Root("333333333333")
	if !ok {
		t.Error("the new account has no key")
	}
	clientOf(t, s, inJSON).Make("CreateQueue", object{"QueueName": "q"})
	apitest.Must(t, 0, stop())
	s, _ = start(t, alone)
	if again, _ := s.accounts.credentials.Root("333333333333"); !reflect.DeepEqual(again, added) {
		t.Errorf("the new account's key is %v, after it was %v", again, added)
	}
}

// joined is a cluster whose other nodes are unreachable.
func joined(c *control.Control) func(NodeEnv) (Node, error) {
	lost := errors.New("nobody is there")
	return joining(&fakeNode{
		control: c, catchUp: func(context.Context) error { return nil },
		forward: func(context.Context, []byte) ([]byte, error) { return nil, lost },
	})
}

// A single node that becomes the first of a cluster keeps its keys, and the others get them. A node of another
// installation reports that and keeps its own.
func TestKeysOfACluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	single := onDisk(dir)
	s, stop := start(t, single)
	root := s.Root()
	master, err := os.ReadFile(filepath.Join(dir, MasterKeyFile))
	apitest.Must(t, master, err)
	apitest.Must(t, 0, stop())

	p := new(pair)
	mine, copied := p.newControls(t)
	if there, err := Initialised(copied); there || err != nil {
		t.Errorf("there are keys: %t, %v", there, err)
	}
	single.Join = joined(mine)
	if _, err := Start(single); !errors.Is(err, identity.ErrUninitialised) {
		t.Errorf("without keys it starts: %v", err)
	}
	if err := Initialise(&single, copied); !errors.Is(err, control.ErrElsewhere) {
		t.Errorf("another caller creates keys: %v", err)
	}
	apitest.Must(t, 0, Initialise(&single, mine))
	if there, err := Initialised(copied); !there || err != nil {
		t.Errorf("there are no keys: %t, %v", there, err)
	}
	first, stop := start(t, single)
	if !reflect.DeepEqual(first.Root(), root) {
		t.Errorf("the root key is %v now", first.Root())
	}
	second := onDisk(t.TempDir())
	second.Accounts = append(second.Accounts, "333333333333") // which the cluster lacks so far
	second.Join = joined(copied)
	other, stopOther := start(t, second)
	if !reflect.DeepEqual(other.Root(), root) || !other.accounts.vault.Same(first.accounts.vault) {
		t.Errorf("the other's root key is %v", other.Root())
	}
	file := filepath.Join(second.Data, CredentialsFile)
	text, err := os.ReadFile(file)
	if !strings.Contains(string(apitest.Must(t, text, err)), root.Secret) {
		t.Errorf("the operator of the second node finds %s", text)
	}
	apitest.Must(t, 0, stop())
	apitest.Must(t, 0, stopOther())

	// The next owner creates only the missing records.
	before := p.changes.Load()
	apitest.Must(t, 0, Initialise(&second, mine))
	apitest.Must(t, 0, Initialise(&single, mine))
	if n := p.changes.Load() - before; n != 1 {
		t.Errorf("%d changes", n)
	}
	again, _ := start(t, second)
	if !reflect.DeepEqual(again.Root(), root) || len(again.accounts.credentials.Accounts()) != 3 {
		t.Errorf("root %v, accounts %v", again.Root(), again.accounts.credentials.Accounts())
	}

	for what, spoil := range map[string]func(dir string) error{
		"another root key for the account " + account: func(dir string) error {
			_, err := identity.LoadCredentials(filepath.Join(dir, CredentialsFile), []string{account})
			return err
		},
		"the account 444444444444, which does not exist here": func(dir string) error {
			_, err := identity.LoadCredentials(filepath.Join(dir, CredentialsFile), []string{"444444444444"})
			return err
		},
		"is not the cluster's master key": func(dir string) error {
			_, err := identity.CreateVault(filepath.Join(dir, MasterKeyFile))
			return err
		},
	} {
		stranger := onDisk(t.TempDir())
		stranger.Join = joined(copied)
		apitest.Must(t, 0, spoil(stranger.Data))
		if _, err := Start(stranger); err == nil || !strings.Contains(err.Error(), what) ||
			!strings.Contains(err.Error(), "another installation") {
			t.Errorf("want it to report %s: %v", what, err)
		}
	}
}

// The owner of the control store may have been paused and replaced: it verifies its ownership before it answers that
// something is missing.
func TestOwnerThatCannotLook(t *testing.T) {
	t.Parallel()
	p := new(pair)
	mine, _ := p.newControls(t)
	c := inMemory()
	cutOff := false
	c.Join = joining(&fakeNode{control: mine, catchUp: func(context.Context) error {
		if cutOff {
			return errors.New("no connection")
		}
		return nil
	}})
	fresh := c
	fresh.Data = t.TempDir()
	apitest.Must(t, 0, Initialise(&fresh, mine))
	s, _ := start(t, c)
	for _, d := range apitest.Dialects {
		client := clientOf(t, s, d)
		cutOff = true
		client.Fails("GetQueueUrl", object{"QueueName": "absent"},
			generic("ServiceUnavailableException", "ServiceUnavailable", 503,
				"The service is temporarily unavailable. Please try again."))
		cutOff = false
		if a := client.Call("GetQueueUrl", object{"QueueName": "absent"}); a.Status != http.StatusBadRequest {
			t.Errorf("%s: a missing queue: %d %s", d, a.Status, a.Body)
		}
	}
}

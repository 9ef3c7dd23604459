package jetstream

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// ConnectOptions configures the connection to an external NATS cluster.
type ConnectOptions struct {
	// URL is one or more addresses, separated by commas: nats://host:4222.
	URL string
	// Credentials is a file with the user's JWT and seed, if the cluster requires them.
	Credentials string
	// TLS is for clusters that use it. Nil uses the setting of the URL.
	TLS *tls.Config
	// SystemCredentials is a file like Credentials, for a user of the system account. It allows CheckSync to verify
	// what otherwise must be assumed.
	SystemCredentials string

	// Insecure allows a connection to another machine without TLS.
	Insecure bool

	// Cluster is the name of the Sluice cluster. Several can share a NATS account.
	Cluster string

	Log *slog.Logger
}

// A Conn is a connection to NATS, which provides a node's logs, leases and messages. It reconnects after a failure.
type Conn struct {
	cluster string
	log     *slog.Logger
	nc      *nats.Conn
	js      js.JetStream
	server  *Server // nil if it is not in this process
	options ConnectOptions

	inbox   string
	next    atomic.Uint64
	mu      sync.Mutex
	waiting map[string]*call // by the last token of their reply subject
}

// Connect connects to a NATS cluster. It fails if the cluster is unreachable.
func Connect(ctx context.Context, o ConnectOptions) (*Conn, error) {
	if err := o.checkSecure(); err != nil {
		return nil, err
	}
	c, err := connect(ctx, o.Cluster, nil, o.Log, o.nats(o.Credentials)...)
	if err != nil {
		return nil, err
	}
	c.options = o
	if err := checkServer(c.nc.ConnectedServerVersion(), c.nc.MaxPayload()); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// checkServer returns an error if a server of that version, with messages of that maximum size, cannot carry logs.
// Servers before 2.11 do not answer direct gets of several messages.
func checkServer(version string, payload int64) error {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil || major < 2 || major == 2 && minor < 11 {
		return fmt.Errorf("the NATS cluster runs version %q; Sluice needs 2.11 or newer", version)
	}
	if payload < MaxPayload {
		return fmt.Errorf("the NATS cluster takes messages of %d bytes; set max_payload to %d at least", payload, MaxPayload)
	}
	return nil
}

// checkSecure returns an error if the connection may go unencrypted to another machine.
func (o *ConnectOptions) checkSecure() error {
	if o.TLS != nil || o.Insecure {
		return nil
	}
	for server := range strings.SplitSeq(o.URL, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil {
			return fmt.Errorf("%q is not the address of a NATS server: %w", server, err)
		}
		if u.Scheme != "tls" && !isLoopback(u.Hostname()) {
			return fmt.Errorf(
				"the traffic between nodes, with keys and messages, would go to %s unencrypted: "+
					"write tls://%s, give --nats-ca, or accept it with --cluster-insecure",
				u.Host,
				u.Host,
			)
		}
	}
	return nil
}

func (o *ConnectOptions) nats(credentials string) []nats.Option {
	opts := []nats.Option{func(n *nats.Options) error {
		n.Servers = strings.Split(o.URL, ",")
		return nil
	}}
	if credentials != "" {
		opts = append(opts, nats.UserCredentials(credentials))
	}
	if o.TLS != nil {
		opts = append(opts, nats.Secure(o.TLS))
	}
	return opts
}

func connect(ctx context.Context, cluster string, s *Server, log *slog.Logger, opts ...nats.Option) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if cluster == "" || token(cluster) != cluster {
		return nil, fmt.Errorf("the name of a cluster has only letters, digits and -, not %q", cluster)
	}
	c := &Conn{cluster: cluster, server: s, log: log, waiting: make(map[string]*call)}
	opts = append(opts,
		nats.Name("sluice "+cluster),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(100*time.Millisecond),
		nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
		nats.ReconnectBufSize(-1), // a message that cannot be sent now is not sent later
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("connection to NATS lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			log.Info("connected to NATS again", "server", nc.ConnectedServerName())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			log.Warn("NATS client", "error", err)
		}),
	)
	var err error
	if c.nc, err = nats.Connect("", opts...); err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if c.js, err = js.New(c.nc); err != nil {
		c.Close()
		return nil, err
	}
	c.inbox = c.nc.NewInbox()
	replies, err := c.nc.Subscribe(c.inbox+".*", c.reply)
	if err == nil {
		// Each reply was requested, and is received at once.
		err = replies.SetPendingLimits(-1, -1)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the connection. Calls that wait on it fail.
func (c *Conn) Close() { c.nc.Close() }

// subject returns a subject that belongs to the cluster.
func (c *Conn) subject(tokens ...string) string {
	return "sluice." + c.cluster + "." + strings.Join(tokens, ".")
}

// stream returns the name of a stream that belongs to the cluster.
func (c *Conn) stream(name string) string { return "SLUICE_" + c.cluster + "_" + name }

// logOf returns the name of the log that is in a stream, if it is the log of a shard of this cluster.
func (c *Conn) logOf(stream string) (name string, ok bool) {
	name, ok = strings.CutPrefix(stream, c.stream(""))
	if !ok || stream == c.stream(leasesStream) {
		return "", false
	}
	name, err := untoken(name)
	return name, err == nil
}

// token makes any text one token of a subject, or a part of a stream's name, so
// that different texts give different tokens.
func token(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "=%02X", b)
		}
	}
	return out.String()
}

// untoken undoes token.
func untoken(t string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(t); i++ {
		b := t[i]
		if b == '=' {
			two, err := hex.DecodeString(t[i+1 : min(i+3, len(t))])
			if err != nil || len(two) != 1 {
				return "", fmt.Errorf("%q is not a token", t)
			}
			b = two[0]
			i += 2
		}
		out.WriteByte(b)
	}
	return out.String(), nil
}

// A call is a message that expects replies.
type call struct {
	conn    *Conn
	token   string
	replies chan *nats.Msg
}

// errNoResponders reports that no connection receives messages on the subject, so that this one was not received.
var errNoResponders = errors.New("no connection listens")

// call sends a message that expects up to the given number of replies. Close the call.
func (c *Conn) call(m *nats.Msg, replies int) (*call, error) {
	one := &call{conn: c, token: fmt.Sprint(c.next.Add(1)), replies: make(chan *nats.Msg, replies)}
	m.Reply = c.inbox + "." + one.token
	c.mu.Lock()
	c.waiting[one.token] = one
	c.mu.Unlock()
	err := c.nc.PublishMsg(m)
	if errors.Is(err, nats.ErrReconnectBufExceeded) {
		err = fmt.Errorf("%w: not connected", errNoResponders)
	}
	if err != nil {
		one.close()
		return nil, err
	}
	return one, nil
}

func (c *Conn) reply(m *nats.Msg) {
	c.mu.Lock()
	one := c.waiting[m.Subject[len(c.inbox)+1:]]
	c.mu.Unlock()
	if one == nil {
		return // too late
	}
	select {
	case one.replies <- m:
	default: // more than requested
	}
}

// receive waits for the next reply.
func (o *call) receive(ctx context.Context) (*nats.Msg, error) {
	select {
	case m := <-o.replies:
		if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
			return nil, errNoResponders
		}
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (o *call) close() {
	o.conn.mu.Lock()
	delete(o.conn.waiting, o.token)
	o.conn.mu.Unlock()
}

// callUntilAnswered sends a request until a first reply comes, and returns that, or until ctx ends. NATS may give a
// request to a node that has just been cut off. Close the call.
func (c *Conn) callUntilAnswered(
	ctx context.Context, subject string, data []byte, replies int,
) (*call, *nats.Msg, error) {
	for bound := firstAsk; ; bound *= 2 {
		one, err := c.call(&nats.Msg{Subject: subject, Data: data}, replies)
		if err != nil {
			return nil, nil, err
		}
		once, cancel := context.WithTimeout(ctx, bound)
		m, err := one.receive(once)
		cancel()
		if err == nil {
			return one, m, nil
		}
		one.close()
		if ctx.Err() != nil || errors.Is(err, errNoResponders) {
			return nil, nil, err
		}
	}
}

// Errors of JetStream's, by the numbers in the server's errors.json.
const (
	codeNotAvailable    js.ErrorCode = 10008 // the meta group or the stream has no leader
	codeNoMessage       js.ErrorCode = 10037
	codeDeleteFailed    js.ErrorCode = 10057
	codeStreamNotFound  js.ErrorCode = 10059
	codeStreamOffline   js.ErrorCode = 10118
	codeWrongLast       js.ErrorCode = 10071
	codeWrongLastInWork js.ErrorCode = 10164 // an earlier publish has not been decided yet
	codeNoPeers         js.ErrorCode = 10005
)

// isCode reports whether err is JetStream's error of one of these numbers.
func isCode(err error, codes ...js.ErrorCode) bool {
	api, ok := errors.AsType[*js.APIError](err)
	if ok {
		for _, code := range codes {
			if api.ErrorCode == code {
				return true
			}
		}
	}
	return false
}

// attempt is how long one request waits for its reply. A reply takes milliseconds. When the leader that should send it
// has died, none comes.
const attempt = 2 * time.Second

// firstAttempt is how long an append waits for its reply at first, and firstAsk the first of several requests. Each
// further one waits twice as long, up to attempt: requests that arrive while a group elects its leader are lost, but a
// busy disk needs time. A hand-over moves a leader and queries the leader right afterwards, so its request is often
// lost.
const (
	firstAttempt = 500 * time.Millisecond
	firstAsk     = 100 * time.Millisecond
)

// ask makes one request to JetStream's API and decodes the response.
//
// Several servers may respond, but only one of them is the leader. While the
// meta group has no leader, the other servers answer that JetStream is not
// available, even if the stream has a leader. So that answer counts only if no
// better one arrives.
func (c *Conn) ask(ctx context.Context, subject string, request, response any) error {
	return c.askFor(ctx, attempt, subject, request, response)
}

// askFor is ask with a limit other than attempt.
func (c *Conn) askFor(ctx context.Context, bound time.Duration, subject string, request, response any) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	one, err := c.call(&nats.Msg{Subject: subject, Data: data}, 16)
	if err != nil {
		return err
	}
	defer one.close()
	var second error
	for {
		m, err := one.receive(ctx)
		if err != nil {
			if second != nil {
				return second
			}
			return err
		}
		var failed struct {
			Error *js.APIError `json:"error"`
		}
		if err := json.Unmarshal(m.Data, &failed); err != nil {
			return fmt.Errorf("JetStream's response on %s: %w", subject, err)
		}
		switch {
		case failed.Error == nil:
			return json.Unmarshal(m.Data, response)
		case isCode(failed.Error, codeNotAvailable):
			second = failed.Error
		default:
			return failed.Error
		}
	}
}

// askUntilAnswered asks until there is an answer, or until ctx ends. It is for requests that may safely be executed
// twice.
func (c *Conn) askUntilAnswered(ctx context.Context, subject string, request, response any) error {
	bound := firstAsk
	for between := 20 * time.Millisecond; ; between = min(2*between, 500*time.Millisecond) {
		err := c.askFor(ctx, bound, subject, request, response)
		bound = min(2*bound, attempt)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		// A JetStream error is an answer, unless it is temporary.
		if _, ok := errors.AsType[*js.APIError](err); ok && !isCode(err, codeNotAvailable, codeStreamOffline) {
			return err
		}
		if err := wait.For(ctx, between); err != nil {
			return err
		}
	}
}

package front

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
)

// The node that owns the control store answers the requests that may change it. Another node relays such a request byte
// for byte, so that its signature can be verified again, together with facts that only the node the client reached
// knows. The answer is returned unchanged.

const (
	// maxRelayed is the maximum size of a relayed body. Requests that change the control store are much shorter than
	// messages can be.
	maxRelayed = 768 << 10
	// relayTimeout is how long a client waits for another node.
	relayTimeout = 30 * time.Second
	// sendTimeout is how long a node may take to send the uses of keys and the events of calls. Only a stopping server
	// waits for that.
	sendTimeout = 5 * time.Second
)

// The kinds of payloads, which are the first byte of each.
const (
	payloadRequest byte = 1
	payloadUses    byte = 2
	payloadEvents  byte = 3
	payloadFiles   byte = 4
)

// relayed is a request in the form in which the relaying node received it.
type relayed struct {
	ID        string
	Began     time.Time // the time that the signature is compared with
	Method    string
	URI       string
	Host      string
	Header    http.Header
	Remote    string // the other end of the connection
	TLS       bool   // of the connection
	SourceIP  string // of the client, which may be behind proxies
	Encrypted bool   // all the way to the client, as far as known
}

// reply is the part of an answer before the body.
type reply struct {
	Status int
	Header http.Header
}

// relay lets the owner of the control store answer the request.
func (x *request) relay(body []byte) error {
	if x.relayed { // it has just been given away
		return control.ErrElsewhere
	}
	if len(body) > maxRelayed {
		return protocol.RequestEntityTooLarge(maxRelayed)
	}
	payload := frame([]byte{payloadRequest}, relayed{
		ID: x.id, Began: x.began, Method: x.r.Method, URI: uri(x.r), Host: x.r.Host, Header: x.r.Header,
		Remote: x.r.RemoteAddr, TLS: x.r.TLS != nil, SourceIP: x.sourceIP, Encrypted: x.encrypted,
	}, body)
	x.release()
	head, answer, err := x.front.forward(x.r.Context(), payload)
	if err != nil {
		return err
	}
	x.result.answered = int32(head.Status)
	maps.Copy(x.w.Header(), head.Header)
	x.w.WriteHeader(head.Status)
	_, err = x.w.Write(answer)
	x.result.gone = err != nil
	return nil
}

// forward lets the owner of the control store answer a client's request.
func (f *Front) forward(ctx context.Context, payload []byte) (head reply, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	answer, err = f.Node.Forward(ctx, payload)
	if err == nil {
		answer, err = unframe(answer, &head)
	}
	if err != nil {
		err = errors.Join(protocol.ServiceUnavailable(), fmt.Errorf("ask the owner of the control store: %w", err))
	}
	return head, answer, err
}

// uri returns the request's target in its original form.
func uri(r *http.Request) string {
	if r.RequestURI != "" {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

// ServeForwarded answers a payload that another node passed to Node.Forward. An error means that the payload is
// invalid, or comes from a newer program; nothing was done.
func (f *Front) ServeForwarded(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) == 0 {
		return nil, errPayload
	}
	switch payload[0] {
	case payloadRequest:
		var in relayed
		body, err := unframe(payload[1:], &in)
		if err != nil {
			return nil, err
		}
		return f.serveRelayed(ctx, &in, body)
	case payloadEvents:
		var events []trail.Entry
		if _, err := unframe(payload[1:], &events); err != nil {
			return nil, err
		}
		f.Trail.Append(events)
		return nil, nil
	case payloadFiles:
		var files []trails.File
		if _, err := unframe(payload[1:], &files); err != nil {
			return nil, err
		}
		return nil, f.NoteFiles(ctx, files)
	case payloadUses:
		var uses directory.Uses
		if _, err := unframe(payload[1:], &uses); err != nil {
			return nil, err
		}
		f.Keys.Directory.NoteUses(uses)
		return nil, nil
	}
	return nil, errPayload
}

// SendUses sends the owner of the control store the times at which keys were used here.
func (f *Front) SendUses(ctx context.Context, uses directory.Uses) error {
	return f.send(ctx, payloadUses, uses)
}

// SendEvents sends the owner of the control store the events of calls that were answered here.
func (f *Front) SendEvents(ctx context.Context, events []trail.Entry) error {
	return f.send(ctx, payloadEvents, events)
}

// SendFiles sends the owner of the control store the names of trail files that were delivered here.
func (f *Front) SendFiles(ctx context.Context, files []trails.File) error {
	return f.send(ctx, payloadFiles, files)
}

// send sends a payload to the owner of the control store.
func (f *Front) send(ctx context.Context, kind byte, noticed any) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	_, err := f.Node.Forward(ctx, frame([]byte{kind}, noticed, nil))
	return err
}

var errPayload = errors.New("what another node has sent cannot be read")

func (f *Front) serveRelayed(ctx context.Context, in *relayed, body []byte) ([]byte, error) {
	u, err := url.ParseRequestURI(in.URI)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPayload, err)
	}
	r := &http.Request{
		Method: in.Method, URL: u, RequestURI: in.URI, Host: in.Host, Header: in.Header, RemoteAddr: in.Remote,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)),
	}
	if r.Header == nil {
		r.Header = make(http.Header)
	}
	if in.TLS {
		r.TLS = new(tls.ConnectionState)
	}
	w := &recorder{head: reply{Header: make(http.Header)}}
	x := f.newRequest(arrival{
		w: w, r: r.WithContext(ctx), id: in.ID, began: in.Began,
		sourceIP: in.SourceIP, encrypted: in.Encrypted, relayed: true,
	})
	serve := x.serve
	if name, ok := f.consolePath(r.URL.Path); ok && strings.HasPrefix(name, signInPath) {
		x.page = strings.TrimPrefix(name, signInPath)
		serve = x.serveSignIn
	}
	x.run(serve)
	if w.head.Status == 0 { // the relaying node no longer waits
		return nil, ctx.Err()
	}
	return frame(nil, w.head, w.body.Bytes()), nil
}

// recorder records an answer.
type recorder struct {
	head reply
	body bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.head.Header }

func (w *recorder) WriteHeader(status int) {
	if w.head.Status == 0 {
		w.head.Status = status
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Flush does nothing: the recorder keeps everything.
func (w *recorder) Flush() {}

// frame appends v and then body to b. Headers may hold any bytes, which JSON would change. Fields may be added to v
// later.
func frame(b []byte, v any, body []byte) []byte {
	var head bytes.Buffer
	if err := gob.NewEncoder(&head).Encode(v); err != nil {
		panic(err) // only for types that it does not know
	}
	b = binary.AppendUvarint(b, uint64(head.Len()))
	return append(append(b, head.Bytes()...), body...)
}

// unframe splits what frame has joined.
func unframe(b []byte, v any) (body []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, errPayload
	}
	b = b[size:]
	if err := gob.NewDecoder(bytes.NewReader(b[:n])).Decode(v); err != nil {
		return nil, fmt.Errorf("%w: %w", errPayload, err)
	}
	return b[n:], nil
}

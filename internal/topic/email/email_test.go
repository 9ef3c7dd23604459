package email

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/topic/delivery"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// mailServer is a real SMTP server that keeps its mails.
type mailServer struct {
	address string
	roots   *x509.CertPool // nil: it does not encrypt

	mu       sync.Mutex
	got      []received
	refuse   error // of recipients
	password string
}

type received struct {
	from, to, user string
	encrypted      bool
	data           []byte
}

type session struct {
	server *mailServer
	conn   *smtp.Conn
	received
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	if s.server.password != "" && s.user == "" {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to += to
	return s.server.refuse
}

func (s *session) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	_, s.encrypted = s.conn.TLSConnectionState()
	s.data = b
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.got = append(s.server.got, s.received)
	return err
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != s.server.password {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}

func newMailServer(t *testing.T, encrypts bool) *mailServer {
	t.Helper()
	m := &mailServer{}
	s := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{
			server: m, conn: c,
		}, nil
	}))
	s.Domain, s.AllowInsecureAuth = "localhost", false
	if encrypts {
		s.TLSConfig, m.roots = certificate(t)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.address = l.Addr().String()
	go func() { _ = s.Serve(l) }() // until it is closed
	t.Cleanup(func() { _ = s.Close() })
	return m
}

// passwordFile writes a password as an operator does.
func passwordFile(t *testing.T, password string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	pool := apitest.Certificate(t, dir)
	cert, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}}, pool
}

func (m *mailServer) relay(t *testing.T, o Config) *Relay {
	t.Helper()
	o.Server = m.address
	if o.From == "" {
		o.From = "sluice@example.com"
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := NewRelay(o)
	if err != nil {
		t.Fatal(err)
	}
	r.tls = &tls.Config{RootCAs: m.roots, ServerName: "127.0.0.1"}
	return r
}

// last returns the last mail with its header and its text.
func (m *mailServer) last(t *testing.T) (received, mail.Header, string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.got) == 0 {
		t.Fatal("no mail")
	}
	got := m.got[len(m.got)-1]
	parsed, err := mail.ReadMessage(bytes.NewReader(got.data))
	if err != nil {
		t.Fatal(err)
	}
	body := parsed.Body
	if parsed.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return got, parsed.Header, strings.ReplaceAll(string(text), "\r\n", "\n")
}

func target(protocol string) *delivery.Target {
	return &delivery.Target{
		Topic: "arn:aws:sns:us-east-1:000000000000:news", Protocol: protocol, Endpoint: "me@example.org",
		DisplayName: "The news",
	}
}

const link = "https://sluice.example/?Action=Unsubscribe&SubscriptionArn=arn%3Aaws"

func decoded(t *testing.T, s string) string {
	t.Helper()
	out, err := new(mime.WordDecoder).DecodeHeader(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMails(t *testing.T) {
	s := newMailServer(t, true)
	r := s.relay(t, Config{})
	for _, c := range []struct {
		protocol      string
		m             delivery.Message
		subject, text string
		unsubscribe   string
	}{
		{"email",
			delivery.Message{
				Note: delivery.Note{Type: envelope.TypeNotification, Subject: "Grüße", Link: link},
				Body: "Zeile\n.\nzwei",
			},
			"Grüße",
			"Zeile\n.\nzwei\n\n--\nIf you wish to stop receiving notifications from this topic, please click or visit the link below to unsubscribe:\n" +
				link + "\n\nPlease do not reply directly to this email.\n", "<" + link + ">"},
		{"email", delivery.Message{Note: delivery.Note{Type: envelope.TypeNotification}, Body: "m"},
			"AWS Notification Message", "m", ""},
		{"email", delivery.Message{Note: delivery.Note{Type: envelope.TypeSubscribe, Link: link}, Body: "x"},
			"AWS Notification - Subscription Confirmation",
			"You have chosen to subscribe to the topic:\narn:aws:sns:us-east-1:000000000000:news\n\n" +
				"To confirm this subscription, click or visit the link below (If this was in error no action is necessary):\n" + link +
				"\n\nPlease do not reply directly to this email.\n", ""},
		{"email",
			delivery.Message{Note: delivery.Note{Type: envelope.TypeUnsubscribe, Subject: "s", Link: link}, Body: "x"},
			"AWS Notification - Unsubscribe Confirmation",
			"Your subscription to the topic below has been deactivated:\narn:aws:sns:us-east-1:000000000000:news\n\n" +
				"If this was in error or you wish to resubscribe, click or visit the link below:\n" + link +
				"\n\nPlease do not reply directly to this email.\n", ""},
		{"email-json",
			delivery.Message{
				Note: delivery.Note{Type: envelope.TypeSubscribe, Link: link},
				Body: `{"Type" : "SubscriptionConfirmation"}`,
			},
			"AWS Notification - Subscription Confirmation", `{"Type" : "SubscriptionConfirmation"}`, ""},
		{"email-json",
			delivery.Message{
				Note: delivery.Note{Type: envelope.TypeNotification, Subject: "s"}, Body: `{"Type" : "Notification"}`,
			}, "s", `{"Type" : "Notification"}`, ""},
	} {
		if err := r.Send(t.Context(), target(c.protocol), &c.m); err != nil {
			t.Fatal(err)
		}
		got, header, text := s.last(t)
		if got.from != "sluice@example.com" || got.to != "me@example.org" || !got.encrypted {
			t.Errorf("from %s to %s, encrypted: %v", got.from, got.to, got.encrypted)
		}
		if subject := decoded(t, header.Get("Subject")); subject != c.subject ||
			header.Get("From") != `"The news" <sluice@example.com>` || header.Get("List-Unsubscribe") != c.unsubscribe {
			t.Errorf("%v", header)
		}
		if at := strings.IndexFunc(string(got.data), func(c rune) bool { return c > 126 }); at >= 0 {
			t.Errorf("the mail is not in ASCII: %s", got.data)
		}
		if strings.TrimRight(text, "\n") != strings.TrimRight(c.text, "\n") {
			t.Errorf("%q, want %q", text, c.text)
		}
	}
}

// Text from users adds no line to the header and no recipient.
func TestNothingIsInjected(t *testing.T) {
	s := newMailServer(t, true)
	r := s.relay(t, Config{})
	for _, evil := range []string{
		"x\r\nBcc: other@example.org", "x\nBcc: other@example.org", "x\rBcc: other@example.org",
		"x\u2028Bcc: other@example.org",
		`"x" <other@example.org>, "y`, "=?utf-8?q?x=0D=0ABcc:_other@example.org?=", "x\x00y",
		strings.Repeat("long ", 1000),
	} {
		to := target("email")
		to.DisplayName = evil
		m := delivery.Message{
			Note: delivery.Note{Type: envelope.TypeNotification, Subject: evil, Link: link},
			Body: "\r\n.\r\nMAIL FROM:<evil@example.org>\r\n",
		}
		if err := r.Send(t.Context(), to, &m); err != nil {
			t.Errorf("%q: %v", evil, err)
			continue
		}
		got, header, text := s.last(t)
		list, err := header.AddressList("From")
		if got.to != "me@example.org" || header.Get("Bcc") != "" || err != nil || len(list) != 1 ||
			list[0].Address != "sluice@example.com" {
			t.Errorf("%q: %s %v %v", evil, got.to, header, err)
		}
		if !strings.Contains(text, "MAIL FROM:<evil@example.org>") {
			t.Errorf("%q: the text is %q", evil, text)
		}
		to.Endpoint = "me@example.org" + evil
		if err := r.Check("email", to.Endpoint); err == nil && !strings.HasPrefix(evil, "=?") {
			t.Errorf("%q is an address", to.Endpoint)
		}
	}
}

func TestAddresses(t *testing.T) {
	r := newMailServer(t, false).relay(t, Config{})
	for address, want := range map[string]bool{
		"me@example.com": true, "me+tag@example.com": true,
		"": false, "me": false, "Me <me@example.com>": false, "a@example.com, b@example.com": false,
		"me@example.com\r\nx": false,
		"(x) me@example.com":  false, strings.Repeat("x", 250) + "@example.com": false,
	} {
		if err := r.Check("email", address); (err == nil) != want {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// The relay may require a user and a password, which are not sent over an unencrypted connection.
func TestPassword(t *testing.T) {
	s := newMailServer(t, true)
	s.password = "secret"
	m := delivery.Message{Note: delivery.Note{Type: envelope.TypeNotification}, Body: "m"}
	if err := s.relay(t, Config{User: "me", PasswordFile: passwordFile(t, "secret")}).Send(t.Context(), target("email"),
		&m); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := s.last(t); got.user != "me" || !got.encrypted {
		t.Errorf("%+v", got)
	}
	for _, o := range []Config{{User: "me", PasswordFile: passwordFile(t, "wrong")}, {}} {
		if err := s.relay(t, o).Send(t.Context(), target("email"), &m); err == nil || delivery.IsPermanent(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	plain := newMailServer(t, false)
	plain.password = "secret"
	if err := plain.relay(t, Config{User: "me", PasswordFile: passwordFile(t, "secret")}).Send(t.Context(),
		target("email"), &m); err == nil {
		t.Error("the password was sent over an unencrypted connection")
	}
}

// A remote relay must encrypt; if its certificate does not match, nothing is sent.
func TestEncryption(t *testing.T) {
	m := delivery.Message{Note: delivery.Note{Type: envelope.TypeNotification}, Body: "m"}
	plain := newMailServer(t, false)
	if err := plain.relay(t, Config{}).Send(t.Context(), target("email"), &m); err != nil {
		t.Errorf("a relay on this machine need not encrypt: %v", err)
	}
	r := plain.relay(t, Config{})
	r.local = false
	if err := r.Send(t.Context(), target("email"), &m); err == nil || !strings.Contains(err.Error(), "STARTTLS") {
		t.Errorf("a mail went to another machine unencrypted: %v", err)
	}
	s := newMailServer(t, true)
	r = s.relay(t, Config{})
	r.tls = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}
	if err := r.Send(t.Context(), target("email"), &m); err == nil {
		t.Error("the certificate was not verified")
	}
}

func TestRefusals(t *testing.T) {
	s := newMailServer(t, true)
	r := s.relay(t, Config{})
	m := delivery.Message{Note: delivery.Note{Type: envelope.TypeNotification}, Body: "m"}
	s.refuse = &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox"}
	if err := r.Send(t.Context(), target("email"), &m); !delivery.IsPermanent(err) {
		t.Error(err)
	}
	s.refuse = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 0, 0}, Message: "later"}
	if err := r.Send(t.Context(), target("email"), &m); err == nil || delivery.IsPermanent(err) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopping"))
	if err := r.Send(ctx, target("email"), &m); err == nil || delivery.IsPermanent(err) {
		t.Error(err)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		o    Config
		want string
	}{
		{Config{}, ""},
		{Config{Server: "smtp.example:587", From: "a@example.com"}, ""},
		{Config{From: "a@example.com"}, "need --smtp-server"},
		{Config{Server: "smtp.example"}, "--smtp-server"},
		{Config{Server: ":25", From: "a@example.com"}, "--smtp-server"},
		{Config{Server: "smtp.example:25"}, "--smtp-from"},
		{Config{Server: "smtp.example:25", From: "x"}, "--smtp-from"},
		{Config{Server: "smtp.example:25", From: "a@example.com", User: "u"}, "--smtp-password-file"},
	} {
		err := c.o.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	if _, err := NewRelay(Config{
		Server: "smtp.example:25", User: "u", PasswordFile: t.TempDir() + "/missing",
	}); err == nil || !strings.Contains(err.Error(), "--smtp-password-file") {
		t.Error(err)
	}
}

// Without a relay, sending fails with an error that a later relay resolves, and addresses are still checked. The log
// warns once a minute.
func TestNoRelay(t *testing.T) {
	var log strings.Builder
	now := time.Unix(1000, 0)
	n := &NoRelay{Log: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now }}
	for range 2 {
		if err := n.Check("email", "me@example.com"); err != nil {
			t.Error(err)
		}
	}
	now = now.Add(time.Minute)
	if err := n.Check("email-json", "me@example.com"); err != nil {
		t.Error(err)
	}
	if got := strings.Count(log.String(), "--smtp-server"); got != 2 {
		t.Errorf("%d warnings: %s", got, log.String())
	}
	if err := n.Check("email", "me"); !errors.Is(err, delivery.ErrAddress) {
		t.Error(err)
	}
	if err := n.Send(t.Context(), nil, nil); err == nil || delivery.IsPermanent(err) {
		t.Error(err)
	}
}

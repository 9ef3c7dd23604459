package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"os"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/sluicemq/sluice/internal/tool/fairshare"
	"github.com/sluicemq/sluice/internal/topic/delivery"
)

const (
	// timeout is how long sending a mail may take, including the wait for its turn.
	timeout = 90 * time.Second
	// atOnce is the number of simultaneous connections to the relay, shared fairly by account.
	atOnce = 4
	// implicitTLS is the port on which a relay encrypts from the first byte; on others it encrypts after STARTTLS.
	implicitTLS = 465
	// maxAddress is the maximum length of an address (RFC 5321).
	maxAddress = 254
)

// Config is the configuration of mail. The zero value sends none.
type Config struct {
	Server       string // host:port of the relay
	From         string // address of the sender
	User         string // empty: the relay requires none
	PasswordFile string // that holds the user's password
}

// Validate returns one clear sentence about the first mistake.
func (o *Config) Validate() error {
	if o.Server == "" {
		if o.From != "" || o.User != "" || o.PasswordFile != "" {
			return errors.New("--smtp-from, --smtp-user and --smtp-password-file need --smtp-server")
		}
		return nil
	}
	if _, _, err := o.address(); err != nil {
		return err
	}
	if err := checkAddress(o.From); err != nil {
		return fmt.Errorf("--smtp-from %q: want the address that mails come from, such as sluice@example.com", o.From)
	}
	if (o.User == "") != (o.PasswordFile == "") {
		return errors.New("--smtp-user and --smtp-password-file go together")
	}
	return nil
}

func (o *Config) address() (host string, port int, err error) {
	host, text, err := net.SplitHostPort(o.Server)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || host == "" || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("--smtp-server %q: want host:port, such as smtp.example.com:587", o.Server)
	}
	return host, port, nil
}

// Relay sends mail. It implements delivery.Sender.
type Relay struct {
	config   Config
	password string
	host     string
	port     int
	local    bool // it is on this machine
	turns    *fairshare.Places
	tls      *tls.Config // nil: the usual one
}

// NewRelay returns a relay for a configuration that names one.
func NewRelay(o Config) (*Relay, error) {
	host, port, err := o.address()
	if err != nil {
		return nil, err
	}
	ip := net.ParseIP(host)
	local := strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
	r := &Relay{
		config: o, host: host, port: port, local: local, turns: fairshare.New(fairshare.Options{Places: atOnce}),
	}
	if o.PasswordFile != "" {
		password, err := os.ReadFile(o.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("--smtp-password-file: %w", err)
		}
		r.password = strings.TrimRight(string(password), "\r\n")
	}
	return r, nil
}

// Check implements delivery.Sender.
func (r *Relay) Check(_, endpoint string) error { return checkAddress(endpoint) }

// checkAddress refuses everything except a plain address: no name, no comment, one recipient.
func checkAddress(s string) error {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > maxAddress {
		return delivery.ErrAddress
	}
	return nil
}

var errNoAnswer = errors.New("the mail relay has not taken the message in time")

// Timeout implements delivery.Sender.
func (r *Relay) Timeout() time.Duration { return timeout }

// Send implements delivery.Sender.
func (r *Relay) Send(ctx context.Context, t *delivery.Target, m *delivery.Message) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errNoAnswer)
	defer cancel()
	message, err := r.compose(t, m)
	if err != nil {
		return delivery.Permanent(err)
	}
	give, err := r.turns.Take(ctx, t.Account())
	if err != nil {
		return err
	}
	defer give()
	client, err := r.client()
	if err != nil {
		return err
	}
	err = client.DialAndSendWithContext(ctx, message)
	if refused, ok := errors.AsType[*gomail.SendError](err); ok && refused.Reason == gomail.ErrSMTPRcptTo &&
		!refused.IsTemp() {
		return delivery.Permanent(err) // there is no such mailbox
	}
	return err
}

func (r *Relay) client() (*gomail.Client, error) {
	options := []gomail.Option{gomail.WithPort(r.port), gomail.WithTimeout(timeout), gomail.WithoutNoop()}
	switch {
	case r.port == implicitTLS:
		options = append(options, gomail.WithSSL())
	case r.local:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if r.tls != nil {
		options = append(options, gomail.WithTLSConfig(r.tls))
	}
	if r.config.User != "" {
		options = append(
			options,
			gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(r.config.User),
			gomail.WithPassword(r.password),
		)
	}
	return gomail.NewClient(r.host, options...)
}

package console

import (
	"io"
	"net"
	"testing"

	"github.com/emersion/go-smtp"
)

// startRelay starts a mail relay, which accepts every mail and keeps none, and returns its address. Without a relay
// topics accept no e-mail addresses.
func startRelay(t *testing.T) string {
	t.Helper()
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return mailSession{}, nil }))
	s.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }() // until it is closed
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

type mailSession struct{}

func (mailSession) Reset()                               {}
func (mailSession) Logout() error                        { return nil }
func (mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (mailSession) Data(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

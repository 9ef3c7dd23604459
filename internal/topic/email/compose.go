package email

import (
	"net/mail"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"github.com/sluicemq/sluice/internal/topic/delivery"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// Default subjects of mails.
const (
	notificationSubject = "Notification Message"
	confirmationSubject = "Subscription Confirmation"
	endSubject          = "Unsubscribe Confirmation"
)

// emailJSON is the protocol of programs that read mail.
const emailJSON = "email-json"

// compose writes a mail.
func (r *Relay) compose(t *delivery.Target, m *delivery.Message) (*gomail.Msg, error) {
	out := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	from := mail.Address{Name: oneLine(t.DisplayName), Address: r.config.From}
	if err := out.SetAddrHeader(gomail.HeaderFrom, from.String()); err != nil {
		return nil, err
	}
	if err := out.To(t.Endpoint); err != nil {
		return nil, err
	}
	out.Subject(subject(m))
	out.SetDate()
	out.SetMessageID()
	out.SetGenHeader("Auto-Submitted", "auto-generated")
	if m.Type == envelope.TypeNotification && m.Link != "" {
		out.SetGenHeader("List-Unsubscribe", "<"+m.Link+">")
	}
	out.SetBodyString(gomail.TypeTextPlain, text(t, m))
	return out, nil
}

func subject(m *delivery.Message) string {
	switch s := oneLine(m.Subject); {
	case m.Type == envelope.TypeSubscribe:
		return confirmationSubject
	case m.Type == envelope.TypeUnsubscribe:
		return endSubject
	case s != "":
		return s
	}
	return notificationSubject
}

// oneLine removes from a text what is not allowed in a header.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, s))
}

func text(t *delivery.Target, m *delivery.Message) string {
	switch {
	case t.Protocol == emailJSON:
		return m.Body
	case m.Type == envelope.TypeSubscribe:
		return "You have chosen to subscribe to the topic:\n" + t.Topic + "\n\n" +
			"To confirm this subscription, visit this link. If you did not ask for it, do nothing.\n" + m.Link + "\n"
	case m.Type == envelope.TypeUnsubscribe:
		return "Your subscription to this topic has ended:\n" + t.Topic + "\n\n" +
			"If you did not want that, visit this link within two days to have it back.\n" + m.Link + "\n"
	case m.Link == "":
		return m.Body
	}
	return m.Body + "\n\n--\nTo stop receiving messages of this topic, visit this link:\n" + m.Link + "\n"
}

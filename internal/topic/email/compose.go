package email

import (
	"net/mail"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"github.com/sluicemq/sluice/internal/topic/delivery"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// Subjects of mails, by which mailboxes sort. The subject of notifications is for messages without their own.
const (
	notificationSubject = "AWS Notification Message"
	confirmationSubject = "AWS Notification - Subscription Confirmation"
	endSubject          = "AWS Notification - Unsubscribe Confirmation"
)

// emailJSON is the protocol for programs that read mail.
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

// text returns the text of a mail in AWS's words, without its addresses for support and complaints. Programs find the
// message before the line of two hyphens.
func text(t *delivery.Target, m *delivery.Message) string {
	switch {
	case t.Protocol == emailJSON:
		return m.Body
	case m.Type == envelope.TypeSubscribe:
		return "You have chosen to subscribe to the topic:\n" + t.Topic + "\n\n" +
			"To confirm this subscription, click or visit the link below " +
			"(If this was in error no action is necessary):\n" + m.Link + "\n\n" + noReply
	case m.Type == envelope.TypeUnsubscribe:
		return "Your subscription to the topic below has been deactivated:\n" + t.Topic + "\n\n" +
			"If this was in error or you wish to resubscribe, click or visit the link below:\n" +
			m.Link + "\n\n" + noReply
	case m.Link == "":
		return m.Body
	}
	return m.Body + "\n\n--\nIf you wish to stop receiving notifications from this topic, " +
		"please click or visit the link below to unsubscribe:\n" + m.Link + "\n\n" + noReply
}

const noReply = "Please do not reply directly to this email.\n"

package envelope

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// signer records its signatures.
type signer struct {
	texts []string
	err   error
}

func (s *signer) Sign(text []byte) (string, error) {
	s.texts = append(s.texts, string(text))
	return "c2lnbmVk", s.err
}
func (s *signer) Version() string { return "1" }
func (s *signer) CertURL() string {
	return "https://sluice.example/SimpleNotificationService-00000000000000000000000000000000.pem"
}

var at = time.Date(2026, 11, 21, 2, 2, 3, 456_789_000, time.FixedZone("", 3600))

const topicARN = "arn:aws:sns:us-east-1:000000000000:orders"

func notification() Notification {
	return Notification{ID: "0b1a", TopicARN: topicARN, Time: at}
}

// joined returns a complete envelope.
func joined(e *Envelopes, message, unsubscribeURL string) (body string, sequenceAt int, err error) {
	begins, rest, sequenceAt, err := e.For(message, unsubscribeURL)
	return begins + rest, sequenceAt, err
}

func TestNotification(t *testing.T) {
	n := notification()
	n.Subject = "Hello"
	n.Attributes = []Attribute{{"store", "String", "a\"b"}, {"picture", "Binary", "AQI="}}
	s := &signer{}
	body, at, err := joined(New(n, s), "one\ntwo", "https://sluice.example/?Action=Unsubscribe&SubscriptionArn=x")
	if err != nil || at != 0 {
		t.Fatal(at, err)
	}
	want := `{
  "Type" : "Notification",
  "MessageId" : "0b1a",
  "TopicArn" : "arn:aws:sns:us-east-1:000000000000:orders",
  "Subject" : "Hello",
  "Message" : "one\ntwo",
  "Timestamp" : "2026-11-21T01:02:03.456Z",
  "SignatureVersion" : "1",
  "Signature" : "c2lnbmVk",
  "SigningCertURL" : "https://sluice.example/SimpleNotificationService-00000000000000000000000000000000.pem",
  "UnsubscribeURL" : "https://sluice.example/?Action=Unsubscribe&SubscriptionArn=x",
  "MessageAttributes" : {
    "store" : {"Type":"String","Value":"a\"b"},
    "picture" : {"Type":"Binary","Value":"AQI="}
  }
}`
	if body != want {
		t.Errorf("%s", body)
	}
	signed := "Message\none\ntwo\nMessageId\n0b1a\nSubject\nHello\nTimestamp\n2026-11-21T01:02:03.456Z\nTopicArn\n" +
		topicARN + "\nType\nNotification\n"
	if len(s.texts) != 1 || s.texts[0] != signed {
		t.Errorf("signed: %q", s.texts)
	}
}

// A publish is signed once for each of its texts, and a FIFO topic's not at all.
func TestSignedOnce(t *testing.T) {
	s := &signer{}
	e := New(notification(), s)
	for _, message := range []string{"a", "a", "b", "a", "b"} {
		if _, _, _, err := e.For(message, "u"); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.texts) != 2 || strings.Contains(s.texts[0], "Subject") {
		t.Errorf("signed: %q", s.texts)
	}
	s.err = errors.New("no key")
	if _, _, _, err := New(notification(), s).For("a", "u"); !errors.Is(err, s.err) {
		t.Error(err)
	}
	n := notification()
	n.FIFO = true
	if _, _, _, err := New(n, nil).For("a", "u"); err != nil {
		t.Error(err)
	}
}

func TestFIFO(t *testing.T) {
	n := notification()
	n.FIFO = true
	body, at, err := joined(New(n, nil), "a", "u")
	if err != nil || at == 0 {
		t.Fatal(at, err)
	}
	body = body[:at] + "12345678901234567890" + body[at+20:]
	want := `{
  "Type" : "Notification",
  "MessageId" : "0b1a",
  "SequenceNumber" : "12345678901234567890",
  "TopicArn" : "arn:aws:sns:us-east-1:000000000000:orders",
  "Message" : "a",
  "Timestamp" : "2026-11-21T01:02:03.456Z",
  "UnsubscribeURL" : "u"
}`
	if body != want {
		t.Errorf("%s", body)
	}
}

func TestConfirmation(t *testing.T) {
	s := &signer{}
	c := Confirmation{
		Type: TypeSubscribe, ID: "0b1a", Token: "ab12", TopicARN: topicARN,
		SubscribeURL: "https://sluice.example/?Action=ConfirmSubscription", Time: at,
	}
	body, err := c.JSON(s)
	want := `{
  "Type" : "SubscriptionConfirmation",
  "MessageId" : "0b1a",
  "Token" : "ab12",
  "TopicArn" : "arn:aws:sns:us-east-1:000000000000:orders",
  "Message" : "You have chosen to subscribe to the topic arn:aws:sns:us-east-1:000000000000:orders.\nTo confirm the subscription, visit the SubscribeURL included in this message.",
  "SubscribeURL" : "https://sluice.example/?Action=ConfirmSubscription",
  "Timestamp" : "2026-11-21T01:02:03.456Z",
  "SignatureVersion" : "1",
  "Signature" : "c2lnbmVk",
  "SigningCertURL" : "https://sluice.example/SimpleNotificationService-00000000000000000000000000000000.pem"
}`
	if body != want || err != nil {
		t.Errorf("%s %v", body, err)
	}
	signed := "Message\n" + c.Message() + "\nMessageId\n0b1a\nSubscribeURL\n" + c.SubscribeURL +
		"\nTimestamp\n2026-11-21T01:02:03.456Z\nToken\nab12\nTopicArn\n" + topicARN +
		"\nType\nSubscriptionConfirmation\n"
	if s.texts[0] != signed {
		t.Errorf("signed: %q", s.texts[0])
	}
	c.Type, c.SubscriptionARN = TypeUnsubscribe, topicARN+":1"
	if body, err = c.JSON(s); err != nil || !strings.Contains(body, `"Type" : "UnsubscribeConfirmation"`) ||
		!strings.Contains(body, "deactivate subscription "+topicARN+":1.") {
		t.Errorf("%s %v", body, err)
	}
	s.err = errors.New("no key")
	if _, err = c.JSON(s); !errors.Is(err, s.err) {
		t.Error(err)
	}
}

// For all messages of a publisher, the envelope is JSON that contains the message.
func FuzzEnvelope(f *testing.F) {
	f.Add("a\"\\\n\r\t\b\f\x00\x1f", "é\u2028", "\xff")
	f.Fuzz(func(t *testing.T, message, subject, value string) {
		n := notification()
		n.Subject, n.Attributes = subject, []Attribute{{subject, message, value}}
		body, _, err := joined(New(n, &signer{}), message, value)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Message, Subject, UnsubscribeURL string
			MessageAttributes                map[string]struct{ Type, Value string }
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%v in %q", err, body)
		}
		attribute := got.MessageAttributes[valid(subject)]
		if got.Message != valid(message) || got.Subject != valid(subject) || got.UnsubscribeURL != valid(value) ||
			attribute.Type != valid(message) || attribute.Value != valid(value) {
			t.Errorf("%q, %q, %q became %q", message, subject, value, body)
		}
	})
}

// valid replaces each byte that is not UTF-8.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func BenchmarkEnvelope(b *testing.B) {
	message := strings.Repeat("Hello, \"world\"! ", 64)
	b.ReportAllocs()
	e := New(notification(), &signer{})
	for b.Loop() {
		if _, _, _, err := e.For(message, "https://sluice.example/?Action=Unsubscribe"); err != nil {
			b.Fatal(err)
		}
	}
}

package sns_test

import (
	"html"
	"io"
	"net"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/emersion/go-smtp"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/server/servertest"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// mailbox is a real SMTP server that keeps its mails.
type mailbox struct {
	*testing.T
	address string

	mu  sync.Mutex
	got []*mail.Message
}

func newMailbox(t *testing.T) *mailbox {
	m := &mailbox{T: t}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return mailSession{m}, nil }))
	s.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	apitest.Must(t, l, err)
	m.address = l.Addr().String()
	go func() { _ = s.Serve(l) }() // until it is closed
	t.Cleanup(func() { _ = s.Close() })
	return m
}

type mailSession struct{ *mailbox }

func (mailSession) Reset()                               {}
func (mailSession) Logout() error                        { return nil }
func (mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (s mailSession) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	m.Body = strings.NewReader(strings.ReplaceAll(string(b), "=\r\n", "")) // the soft line breaks of quoted-printable
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, m)
	return nil
}

// wait waits for the n-th mail, from 0, and returns it and its text.
func (m *mailbox) wait(n int) (got *mail.Message, text string) {
	m.Helper()
	eventually.True(m, "a mail", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.got) <= n {
			return false
		}
		got = m.got[n]
		return true
	})
	b, err := io.ReadAll(got.Body)
	apitest.Must(m.T, b, err)
	return got, strings.ReplaceAll(strings.ReplaceAll(string(b), "=3D", "="), "\r\n", "\n")
}

var links = regexp.MustCompile(`http://[^\s]+`)

// browse opens a link as a person's browser does.
func (r *rig) browse(url string, status int, want ...string) (page string) {
	r.Helper()
	request, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	apitest.Must(r.T, request, err)
	request.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	answer, err := http.DefaultClient.Do(request)
	apitest.Must(r.T, answer, err)
	b, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	apitest.Must(r.T, b, err)
	page = html.UnescapeString(string(b))
	if answer.StatusCode != status || answer.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
		answer.Header.Get("Referrer-Policy") != "no-referrer" ||
		!strings.HasPrefix(answer.Header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-") ||
		strings.Contains(page, "<script") {
		r.Errorf("%d %v %s", answer.StatusCode, answer.Header, page)
	}
	for _, w := range want {
		if !strings.Contains(page, w) {
			r.Errorf("there is no %q in %s", w, page)
		}
	}
	return page
}

var hrefs = regexp.MustCompile(`href="([^"]+)"`)

// A person's browser gets pages, each with a link to revert the step.
func TestPagesForPeople(t *testing.T) {
	t.Parallel()
	r, h := newOpenRig(t), newWebhook(t)
	topic := r.topic(r.root, "news", nil)
	arn := r.subscribeHook(topic, h.url+"?a=<b>", nil)
	confirm := h.wait(0).fields["SubscribeURL"]
	r.browse(confirm+"0", http.StatusBadRequest, "<h1>This link does not work</h1>")
	page := r.browse(confirm, http.StatusOK, "<h1>Subscription confirmed</h1>", arn)
	page = r.browse(hrefs.FindStringSubmatch(page)[1], http.StatusOK, "<h1>Subscription ended</h1>", arn)
	// sent by now: what follows removes the queue it waits in
	if got := h.wait(1).fields["Type"]; got != envelope.TypeUnsubscribe {
		t.Error(got)
	}
	if strings.Contains(page, h.url) {
		t.Errorf("it shows the endpoint: %s", page)
	}
	back := hrefs.FindStringSubmatch(page)[1]
	page = r.browse(back, http.StatusOK, "<h1>Subscription confirmed</h1>", arn)
	out, err := r.root.SNS.ConfirmSubscription(t.Context(), &sns.ConfirmSubscriptionInput{
		TopicArn: &topic, Token: aws.String(strings.Split(back, "Token=")[1]),
	})
	if got := *apitest.Must(t, out, err).SubscriptionArn; got != arn { // a client that signs gets what it requested
		t.Error(got)
	}
	end := hrefs.FindStringSubmatch(page)[1]
	gone, err := r.root.SNS.Unsubscribe(t.Context(), &sns.UnsubscribeInput{SubscriptionArn: &arn})
	apitest.Must(t, gone, err)
	r.browse(end, http.StatusOK, "<h1>There is no such subscription</h1>")

	arn = r.subscribeHook(topic, h.url, nil)
	_, err = r.root.SNS.ConfirmSubscription(t.Context(), &sns.ConfirmSubscriptionInput{
		TopicArn: &topic, Token: aws.String(h.wait(2).fields["Token"]), AuthenticateOnUnsubscribe: aws.String("true"),
	})
	apitest.Must(t, 0, err)
	r.browse(r.server.Endpoint()+"/?Action=Unsubscribe&SubscriptionArn="+arn, http.StatusForbidden,
		"<h1>This link does not work</h1>")
}

// A person confirms by mail, gets messages as mails, and ends the subscription with a link.
func TestMail(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	c := servertest.InMemory()
	c.Mail.Server, c.Mail.From = m.address, "sluice@example.com"
	s, _ := servertest.Start(t, c)
	r := &rig{t, s, apitest.RootActor(s.Endpoint(), s.Root()), nil}
	topic := r.topic(r.root, "news", map[string]string{"DisplayName": "The news"})
	for _, bad := range []string{"me", "Me <me@example.com>", "me@example.com\nBcc: x@example.com"} {
		_, err := r.root.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
			TopicArn: &topic, Protocol: aws.String("email"), Endpoint: &bad,
		})
		if err == nil || !strings.Contains(err.Error(), "InvalidParameter: Invalid parameter: Email address") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	out, err := r.root.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: &topic, Protocol: aws.String("email"), Endpoint: aws.String("me@example.com"),
	})
	if arn := *apitest.Must(t, out, err).SubscriptionArn; arn != "pending confirmation" {
		t.Error(arn)
	}
	_, text := m.wait(0)
	if status, body := r.follow(links.FindString(text)); status != http.StatusOK {
		t.Fatalf("%s: %d %s", text, status, body)
	}
	r.announce(topic, "hello")
	got, text := m.wait(1)
	if got.Header.Get("Subject") != "s" || got.Header.Get("To") != "<me@example.com>" ||
		!strings.HasPrefix(text, "hello\n") {
		t.Errorf("%v %s", got.Header, text)
	}
	if status, body := r.follow(links.FindString(text)); status != http.StatusOK {
		t.Fatalf("%s: %d %s", text, status, body)
	}
	list, err := r.root.SNS.ListSubscriptionsByTopic(t.Context(), &sns.ListSubscriptionsByTopicInput{TopicArn: &topic})
	if len(apitest.Must(t, list, err).Subscriptions) != 0 {
		t.Errorf("%v", list.Subscriptions)
	}
	got, text = m.wait(2)
	if got.Header.Get("Subject") != "AWS Notification - Unsubscribe Confirmation" ||
		got.Header.Get("List-Unsubscribe") != "" || !strings.Contains(text, topic) {
		t.Errorf("%v %s", got.Header, text)
	}
	if status, body := r.follow(links.FindString(text)); status != http.StatusOK {
		t.Fatalf("%s: %d %s", text, status, body)
	}
	r.announce(topic, "hello again")
	if _, text := m.wait(3); !strings.HasPrefix(text, "hello again\n") {
		t.Error(text)
	}
}

// A person does not get a mail for each call, but one a minute, whose link works until the next one.
func TestMailsThatAskAreFew(t *testing.T) {
	t.Parallel()
	m := newMailbox(t)
	var later atomic.Int64
	c := servertest.InMemory()
	c.Mail.Server, c.Mail.From = m.address, "sluice@example.com"
	c.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	s, _ := servertest.Start(t, c)
	r := &rig{t, s, apitest.RootActor(s.Endpoint(), s.Root()), nil}
	topic := r.topic(r.root, "news", nil)
	subscribe := func(address string) {
		t.Helper()
		out, err := r.root.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
			TopicArn: &topic, Protocol: aws.String("email"), Endpoint: &address,
		})
		if arn := *apitest.Must(t, out, err).SubscriptionArn; arn != "pending confirmation" {
			t.Error(arn)
		}
	}
	for range 5 {
		subscribe("me@example.com")
	}
	_, first := m.wait(0)
	subscribe("you@example.com")
	if got, _ := m.wait(1); got.Header.Get("To") != "<you@example.com>" {
		t.Errorf("another mail to %s", got.Header.Get("To"))
	}
	later.Store(int64(time.Minute))
	subscribe("me@example.com")
	got, second := m.wait(2)
	if to := got.Header.Get("To"); to != "<me@example.com>" {
		t.Errorf("an unexpected mail to %s", to)
	}
	if status, body := r.follow(links.FindString(first)); status == http.StatusOK {
		t.Errorf("the previous link: %s", body)
	}
	subscribe("me@example.com")
	if status, body := r.follow(links.FindString(second)); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// Without a relay, addresses subscribe as on AWS. Their subscriptions stay unconfirmed, and get no messages.
func TestMailWithoutRelay(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn := topicARN("a")
		st.Does("CreateTopic", with{"Name", "a"})
		for _, protocol := range []string{"email", "email-json"} {
			subscribe := with{"TopicArn", arn, "Protocol", protocol, "Endpoint", "me@example.com"}
			st.Does("Subscribe", subscribe, "<SubscriptionArn>pending confirmation</SubscriptionArn>")
			again := st.Does("Subscribe", append(subscribe, "ReturnSubscriptionArn", "true"))
			sub := apitest.Element(again, "SubscriptionArn")
			st.Does("GetSubscriptionAttributes", with{"SubscriptionArn", sub},
				entry("PendingConfirmation", "true"), entry("Protocol", protocol),
				entry("Endpoint", "me@example.com"), entry("RawMessageDelivery", "false"))
		}
		st.Does("GetTopicAttributes", with{"TopicArn", arn}, entry("SubscriptionsPending", "2"))
		st.Does("ListSubscriptionsByTopic", with{"TopicArn", arn},
			"<SubscriptionArn>PendingConfirmation</SubscriptionArn>")
		st.Does("Publish", with{"TopicArn", arn, "Message", "m"})
		st.Refuses("Subscribe", with{"TopicArn", arn, "Protocol", "email", "Endpoint", "me"},
			400, invalid, "Invalid parameter: Email address")
	})
}

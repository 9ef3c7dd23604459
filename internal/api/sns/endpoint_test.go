package sns_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// webhook is an HTTP endpoint that keeps its requests.
type webhook struct {
	*testing.T
	url string

	mu     sync.Mutex
	got    []notification
	status int // of its answers; 0 means 200
}

// notification is a request to a webhook.
type notification struct {
	header http.Header
	body   string
	fields map[string]string // of an envelope
}

func newWebhook(t *testing.T) *webhook {
	h := &webhook{T: t}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	h.url = s.URL + "/hook"
	return h
}

func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		h.Error(err)
	}
	n := notification{header: r.Header, body: string(b)}
	var fields map[string]any
	if json.Unmarshal(b, &fields) == nil {
		n.fields = make(map[string]string)
		for k, v := range fields {
			n.fields[k] = fmt.Sprint(v)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, n)
	if h.status != 0 {
		w.WriteHeader(h.status)
	}
}

func (h *webhook) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

// wait waits for the n-th request, from 0, and returns it.
func (h *webhook) wait(n int) (got notification) {
	h.Helper()
	eventually.True(h, fmt.Sprintf("request %d", n), func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.got) <= n {
			return false
		}
		got = h.got[n]
		return true
	})
	return got
}

// newOpenRig is newRig with a server that delivers to this machine.
func newOpenRig(t *testing.T) *rig {
	t.Helper()
	c := servertest.InMemory()
	c.EgressAllow = []string{"127.0.0.1"}
	s, _ := servertest.Start(t, c)
	other, _ := s.RootOf(otherAccount)
	return &rig{t, s, apitest.RootActor(s.Endpoint(), s.Root()), apitest.RootActor(s.Endpoint(), other)}
}

func (r *rig) subscribeHook(topic, url string, attributes map[string]string) string {
	r.Helper()
	out, err := r.root.SNS.Subscribe(r.Context(), &sns.SubscribeInput{
		TopicArn: &topic, Protocol: aws.String("http"), Endpoint: &url, Attributes: attributes,
		ReturnSubscriptionArn: true,
	})
	return *apitest.Must(r.T, out, err).SubscriptionArn
}

func (r *rig) announce(topic, message string) string {
	r.Helper()
	out, err := r.root.SNS.Publish(r.Context(), &sns.PublishInput{
		TopicArn: &topic, Message: &message, Subject: aws.String("s"),
	})
	return *apitest.Must(r.T, out, err).MessageId
}

// follow fetches a link as a subscriber does, without a signature.
func (r *rig) follow(url string) (status int, body string) {
	r.Helper()
	answer, err := http.Get(url)
	apitest.Must(r.T, answer, err)
	b, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	apitest.Must(r.T, b, err)
	return answer.StatusCode, string(b)
}

// verify checks the signature of an envelope with the certificate that it names.
func (r *rig) verify(fields map[string]string, names ...string) {
	r.Helper()
	status, certificate := r.follow(fields["SigningCertURL"])
	block, _ := pem.Decode([]byte(certificate))
	if status != http.StatusOK || block == nil {
		r.Fatalf("%d %s", status, certificate)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	apitest.Must(r.T, cert, err)
	text := ""
	for _, name := range names {
		text += name + "\n" + fields[name] + "\n"
	}
	signature, err := base64.StdEncoding.DecodeString(fields["Signature"])
	apitest.Must(r.T, signature, err)
	hash, sum := crypto.SHA1, sha1.Sum([]byte(text))
	digest := sum[:]
	if fields["SignatureVersion"] == "2" {
		sum := sha256.Sum256([]byte(text))
		hash, digest = crypto.SHA256, sum[:]
	}
	if err := rsa.VerifyPKCS1v15(cert.PublicKey.(*rsa.PublicKey), hash, digest, signature); err != nil {
		r.Errorf("%s: %v", fields["Type"], err)
	}
}

// An endpoint must confirm its subscription, then gets signed messages, and none after it has followed the link that
// ends the subscription.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1", "2"} {
		t.Run("signature version "+version, func(t *testing.T) {
			t.Parallel()
			r, h := newOpenRig(t), newWebhook(t)
			topic := r.topic(r.root, "news", map[string]string{"SignatureVersion": version})
			arn := r.subscribeHook(topic, h.url, nil)
			r.announce(topic, "before it is confirmed")

			request := h.wait(0)
			if request.header.Get("X-Amz-Sns-Message-Type") != "SubscriptionConfirmation" ||
				request.header.Get("X-Amz-Sns-Message-Id") != request.fields["MessageId"] ||
				request.fields["Type"] != "SubscriptionConfirmation" || request.fields["TopicArn"] != topic ||
				request.fields["SignatureVersion"] != version {
				t.Errorf("%v", request)
			}
			r.verify(request.fields, "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")
			if status, body := r.follow(request.fields["SubscribeURL"] + "00"); status != http.StatusBadRequest ||
				!strings.Contains(body, "Invalid parameter: Token") {
				t.Errorf("a wrong token: %d %s", status, body)
			}
			for range 2 { // a link may be followed twice
				if status, body := r.follow(request.fields["SubscribeURL"]); status != http.StatusOK ||
					!strings.Contains(body, "<SubscriptionArn>"+arn+"</SubscriptionArn>") {
					t.Fatalf("%d %s", status, body)
				}
			}

			id := r.announce(topic, "hello\n\"world\"")
			message := h.wait(1)
			if message.fields["Message"] != "hello\n\"world\"" || message.fields["MessageId"] != id ||
				message.header.Get("X-Amz-Sns-Message-Id") != id ||
				message.header.Get("X-Amz-Sns-Subscription-Arn") != arn ||
				message.header.Get("Content-Type") != "text/plain; charset=UTF-8" {
				t.Errorf("%v", message)
			}
			if message.header.Get("Accept-Encoding") != "gzip,deflate" ||
				message.header.Get("Connection") != "Keep-Alive" {
				t.Errorf("%v", message.header)
			}
			r.verify(message.fields, "Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")

			if status, body := r.follow(message.fields["UnsubscribeURL"]); status != http.StatusOK {
				t.Fatalf("%d %s", status, body)
			}
			if status, _ := r.follow(message.fields["UnsubscribeURL"]); status != http.StatusOK {
				t.Errorf("the link cannot be followed twice: %d", status)
			}
			out, err := r.root.SNS.ListSubscriptionsByTopic(t.Context(), &sns.ListSubscriptionsByTopicInput{
				TopicArn: &topic,
			})
			if len(apitest.Must(t, out, err).Subscriptions) != 0 {
				t.Errorf("%v", out.Subscriptions)
			}

			end := h.wait(2)
			if end.header.Get("X-Amz-Sns-Message-Type") != "UnsubscribeConfirmation" ||
				end.header.Get("X-Amz-Sns-Subscription-Arn") != arn ||
				end.fields["Type"] != "UnsubscribeConfirmation" ||
				!strings.Contains(end.fields["Message"], "You have chosen to deactivate subscription "+arn) {
				t.Errorf("%v", end)
			}
			r.verify(end.fields, "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")
			r.announce(topic, "nobody is there")
			for range 2 {
				if status, body := r.follow(end.fields["SubscribeURL"]); status != http.StatusOK ||
					!strings.Contains(body, "<SubscriptionArn>"+arn+"</SubscriptionArn>") {
					t.Fatalf("%d %s", status, body)
				}
			}
			r.announce(topic, "back again")
			if got := h.wait(3); got.fields["Message"] != "back again" ||
				got.header.Get("X-Amz-Sns-Subscription-Arn") != arn {
				t.Errorf("%v", got)
			}
		})
	}
}

// Repeated calls of Subscribe ask an endpoint a few times. The last token that was sent stays valid.
func TestEndpointIsAskedSeldom(t *testing.T) {
	t.Parallel()
	r, h := newOpenRig(t), newWebhook(t)
	topic := r.topic(r.root, "news", nil)
	for range 30 {
		r.subscribeHook(topic, h.url, nil)
	}
	confirmed := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, request := range h.got {
			if status, _ := r.follow(request.fields["SubscribeURL"]); status == http.StatusOK {
				return true
			}
		}
		return false
	}
	eventually.True(t, "the subscription is confirmed", confirmed)
	r.announce(topic, "hello")
	eventually.True(t, "the message has come", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.got) > 0 && h.got[len(h.got)-1].fields["Message"] == "hello"
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.got) - 1; n > 5 {
		t.Errorf("the endpoint was asked %d times", n)
	}
}

// An owner who ends a subscription gets no notice. A new subscription replaces one that could have been restored.
func TestEndOfSubscription(t *testing.T) {
	t.Parallel()
	r, h := newOpenRig(t), newWebhook(t)
	topic := r.topic(r.root, "news", nil)
	arn := r.confirmed(topic, h, nil)
	end := func(arn string) {
		t.Helper()
		out, err := r.root.SNS.Unsubscribe(t.Context(), &sns.UnsubscribeInput{SubscriptionArn: &arn})
		apitest.Must(t, out, err)
	}
	end(arn)
	arn = r.subscribeHook(topic, h.url, nil)
	if got := h.wait(1); got.fields["Type"] != "SubscriptionConfirmation" {
		t.Fatalf("%v", got)
	}
	r.follow(h.wait(1).fields["SubscribeURL"])
	r.follow(r.server.Endpoint() + "/?Action=Unsubscribe&SubscriptionArn=" + arn)
	back := h.wait(2).fields["SubscribeURL"]
	again := r.subscribeHook(topic, h.url, nil)
	if got := h.wait(3); got.fields["Type"] != "SubscriptionConfirmation" || again == arn {
		t.Errorf("%v", got)
	}
	if status, body := r.follow(back); status != http.StatusBadRequest ||
		!strings.Contains(body, "Invalid parameter: Token") {
		t.Errorf("%d %s", status, body)
	}
}

// confirmed subscribes a webhook and confirms the subscription.
func (r *rig) confirmed(topic string, h *webhook, attributes map[string]string) (arn string) {
	r.Helper()
	arn = r.subscribeHook(topic, h.url, attributes)
	if status, body := r.follow(h.wait(0).fields["SubscribeURL"]); status != http.StatusOK {
		r.Fatalf("%d %s", status, body)
	}
	return arn
}

// With raw delivery an endpoint gets the unchanged message, with the content type of the delivery policy.
func TestRawEndpoint(t *testing.T) {
	t.Parallel()
	r, h := newOpenRig(t), newWebhook(t)
	topic := r.topic(r.root, "news", nil)
	r.confirmed(topic, h, map[string]string{
		"RawMessageDelivery": "true", "DeliveryPolicy": `{"requestPolicy":{"headerContentType":"application/json"}}`,
	})
	r.announce(topic, `{"a":1}`)
	got := h.wait(1)
	if got.body != `{"a":1}` || got.header.Get("X-Amz-Sns-Rawdelivery") != "true" ||
		got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", got)
	}
}

// A failed delivery is retried. After the last attempt, or when the endpoint refuses the message, it is in the
// dead-letter queue in the form in which the endpoint would have got it.
func TestEndpointThatFails(t *testing.T) {
	t.Parallel()
	r, h := newOpenRig(t), newWebhook(t)
	topic := r.topic(r.root, "news", nil)
	dead := r.queue(r.root, "dead", "news", nil)
	r.confirmed(topic, h, map[string]string{
		"RedrivePolicy":  `{"deadLetterTargetArn":"` + queueARN("dead") + `"}`,
		"DeliveryPolicy": `{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":1,"numRetries":2,"numNoDelayRetries":1}}`,
	})
	h.answer(http.StatusServiceUnavailable)
	id := r.announce(topic, "m")
	for n := range 3 {
		if got := h.wait(n + 1); got.fields["MessageId"] != id {
			t.Errorf("attempt %d: %v", n, got)
		}
	}
	deadLetter := func() {
		t.Helper()
		eventually.Succeeds(t, func() error {
			messages := r.receive(r.root, dead)
			if len(messages) != 1 || *messages[0].Body != h.wait(1).body {
				return fmt.Errorf("in the dead-letter queue: %v", messages)
			}
			return nil
		})
	}
	deadLetter()
	h.answer(http.StatusGone)
	r.announce(topic, "unwanted")
	eventually.Succeeds(t, func() error {
		messages := r.receive(r.root, dead)
		if len(messages) != 1 || !strings.Contains(*messages[0].Body, "unwanted") {
			return fmt.Errorf("in the dead-letter queue: %v", messages)
		}
		return nil
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.got); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// Where delivery is impossible, Subscribe says so. The refusal of an address that is not public names the flag.
func TestEndpointsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	for _, c := range []struct{ protocol, endpoint, want string }{
		{"http", "http://127.0.0.1:80/", "--egress-allow 127.0.0.1"},
		{"http", "http://169.254.169.254/latest", "--egress-allow"},
		{"http", "http://[::ffff:10.0.0.1]/", "--egress-allow"},
		{"https", "https://localhost/", "--egress-allow"},
		{"https", "http://hooks.example/", "Endpoint must match the specified protocol"},
		{"http", "hooks.example", "Invalid parameter: Endpoint must match the specified protocol"},
		{"http", "http:///path", "not a URL"},
		{"http", "", "Invalid parameter: Endpoint"},
		{"email", "me", "Invalid parameter: Email address"},
		{"email-json", "", "Invalid parameter: Endpoint"},
		{"lambda", "arn:aws:lambda:us-east-1:000000000000:function:f", "This server does not deliver by lambda."},
	} {
		_, err := r.root.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
			TopicArn: &topic, Protocol: &c.protocol, Endpoint: &c.endpoint,
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.endpoint, err)
		}
	}
}

// With AuthenticateOnUnsubscribe, the link in a message does not end the subscription: that takes a signature.
func TestAuthenticateOnUnsubscribe(t *testing.T) {
	t.Parallel()
	r, h := newOpenRig(t), newWebhook(t)
	topic := r.topic(r.root, "news", nil)
	arn := r.subscribeHook(topic, h.url, nil)
	token, link := h.wait(0).fields["Token"], h.wait(0).fields["SubscribeURL"]
	if status, body := r.follow(link + "&AuthenticateOnUnsubscribe=true"); status != http.StatusForbidden ||
		!strings.Contains(body, "<Code>MissingAuthenticationToken</Code>") {
		t.Errorf("an unsigned request has confirmed: %d %s", status, body)
	}
	out, err := r.root.SNS.ConfirmSubscription(t.Context(), &sns.ConfirmSubscriptionInput{
		TopicArn: &topic, Token: &token, AuthenticateOnUnsubscribe: aws.String("true"),
	})
	if got := *apitest.Must(t, out, err).SubscriptionArn; got != arn {
		t.Error(got)
	}
	r.announce(topic, "m")
	if status, _ := r.follow(h.wait(1).fields["UnsubscribeURL"]); status != http.StatusForbidden {
		t.Errorf("the link was followed: %d", status)
	}
	gone, err := r.root.SNS.Unsubscribe(t.Context(), &sns.UnsubscribeInput{SubscriptionArn: &arn})
	apitest.Must(t, gone, err)
}

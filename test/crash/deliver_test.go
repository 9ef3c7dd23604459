package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// endpoint is an HTTP endpoint that sometimes fails, and records the messages that it has accepted.
type endpoint struct {
	mu      sync.Mutex
	rng     *rand.Rand
	taken   map[string]int
	confirm chan string // SubscribeURLs
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return // the server was killed while it wrote
	}
	if r.Header.Get("x-amz-sns-message-type") == "SubscriptionConfirmation" {
		var m struct{ SubscribeURL string }
		if json.Unmarshal(b, &m) == nil {
			e.confirm <- m.SubscribeURL
		}
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rng.IntN(4) == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	e.taken[string(b)]++
}

// missing returns one of the messages that the endpoint has not accepted, and their number.
func (e *endpoint) missing(messages []string) (one string, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range messages {
		if e.taken[m] == 0 {
			one = m
			n++
		}
	}
	return one, n
}

func topics(p *process) *sns.Client {
	return sns.New(sns.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(<-p.endpoint), RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: workload.Root.AccessKeyID, SecretAccessKey: workload.Root.Secret}, nil
		}),
	})
}

// TestKillDeliveries kills the server while it delivers to an endpoint that fails now and then. Every message with an
// acknowledged publish arrives.
func TestKillDeliveries(t *testing.T) {
	program.Long(t)
	t.Parallel()
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("SLUICE_TEST_CRASH_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	e := &endpoint{rng: rand.New(rand.NewPCG(seed, 2)), taken: make(map[string]int), confirm: make(chan string, 1)}
	hook := httptest.NewServer(e)
	t.Cleanup(hook.Close)
	binary, data := program.Build(t), t.TempDir()

	var published []string
	var topic *string
	for round := range 4 {
		p := launch(t, binary, data, "--egress-allow", "127.0.0.1")
		client := topics(p)
		if round == 0 {
			topic = subscribeHook(t, client, e, hook.URL)
		}
		var over atomic.Bool
		var publisher sync.WaitGroup
		publisher.Go(func() {
			for n := 0; !over.Load(); n++ {
				message := fmt.Sprintf("message %d of round %d", n, round)
				if _, err := client.Publish(t.Context(), &sns.PublishInput{
					TopicArn: topic, Message: &message,
				}); err == nil {
					published = append(published, message)
				}
			}
		})
		time.Sleep(time.Duration(300+rng.IntN(700)) * time.Millisecond)
		p.kill(t)
		over.Store(true)
		publisher.Wait()
	}
	p := launch(t, binary, data, "--egress-allow", "127.0.0.1")
	p.ready(t)
	eventually.Succeeds(t, func() error {
		if one, n := e.missing(published); n > 0 {
			return fmt.Errorf("%d of %d messages have not arrived, such as %q", n, len(published), one)
		}
		return nil
	})
	p.stop(t)
	t.Logf("%d messages", len(published))
	if len(published) == 0 {
		t.Error("nothing was published")
	}
}

// subscribeHook creates a topic and subscribes an endpoint with raw delivery.
func subscribeHook(t *testing.T, client *sns.Client, e *endpoint, url string) (topic *string) {
	t.Helper()
	made, err := client.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("news")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: made.TopicArn, Protocol: aws.String("http"), Endpoint: &url, Attributes: map[string]string{
			"RawMessageDelivery": "true",
			"DeliveryPolicy":     `{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":1,"numRetries":100}}`,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case link := <-e.confirm:
		answer, err := http.Get(link)
		if err != nil {
			t.Fatal(err)
		}
		if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK {
			t.Fatalf("the link answers %s", answer.Status)
		}
	case <-ctx.Done():
		t.Fatal("the endpoint was not asked to confirm its subscription")
	}
	return made.TopicArn
}

package sns_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// No list contains the password of an endpoint's URL, and no event contains more of the URL than its origin.
func TestSecretsOfURLs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	made, err := r.root.SNS.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("news")})
	topic := apitest.Must(t, made, err).TopicArn
	subscribed, err := r.root.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: topic, Protocol: aws.String("https"), ReturnSubscriptionArn: true,
		Endpoint: aws.String("https://ann:pass-word@hooks.invalid/in/path-token?key=query-token"),
	})
	arn := apitest.Must(t, subscribed, err).SubscriptionArn
	const masked = "https://ann:****@hooks.invalid/in/path-token?key=query-token"
	all, err := r.root.SNS.ListSubscriptions(t.Context(), &sns.ListSubscriptionsInput{})
	if list := apitest.Must(t, all, err).Subscriptions; len(list) != 1 || *list[0].Endpoint != masked {
		t.Errorf("listed: %v", aws.ToString(list[0].Endpoint))
	}
	some, err := r.root.SNS.ListSubscriptionsByTopic(t.Context(), &sns.ListSubscriptionsByTopicInput{TopicArn: topic})
	if list := apitest.Must(t, some, err).Subscriptions; len(list) != 1 || *list[0].Endpoint != masked {
		t.Errorf("the topic lists %v", aws.ToString(list[0].Endpoint))
	}
	shown, err := r.root.SNS.GetSubscriptionAttributes(t.Context(), &sns.GetSubscriptionAttributesInput{
		SubscriptionArn: arn,
	})
	if got := apitest.Must(t, shown, err).Attributes["Endpoint"]; got != masked {
		t.Errorf("shown: %s", got)
	}
	eventually.Succeeds(t, func() error {
		events := r.lookUp()
		if !strings.Contains(events, `\"endpoint\":\"https://****@hooks.invalid/****\"`) {
			return fmt.Errorf("the events are %s", events)
		}
		for _, secret := range []string{"pass-word", "path-token", "query-token"} {
			if strings.Contains(events, secret) {
				t.Errorf("an event contains %s: %s", secret, events)
			}
		}
		return nil
	})
}

// lookUp returns the events of the account, as JSON.
func (r *rig) lookUp() string {
	r.Helper()
	request, err := http.NewRequest(http.MethodPost, r.server.Endpoint(), strings.NewReader("{}"))
	apitest.Must(r.T, request, err)
	request.Header.Set("Content-Type", "application/x-amz-json-1.1")
	request.Header.Set("X-Amz-Target", "CloudTrail_20131101.LookupEvents")
	apitest.SignAt(r.T, request, r.server.Root(), "cloudtrail", region, time.Now())
	status, body := apitest.Exchange(r.T, request)
	if status != http.StatusOK {
		r.Fatal(status, body)
	}
	return body
}

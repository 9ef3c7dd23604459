package sns_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// A phone can subscribe without confirmation. Its number may have separators, one at a time.
func TestSubscribedPhones(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		arn := topicARN("a")
		st.Does("CreateTopic", with{"Name", "a"})
		st.Does("CreateTopic", attributes("Name", "a.fifo", "FifoTopic", "true"))
		phone := func(number string, pairs ...string) with {
			return append(attributes("TopicArn", arn, pairs...), "Protocol", "sms", "Endpoint", number)
		}
		sub := apitest.Element(st.Does("Subscribe", phone("+15551234567", "FilterPolicy", `{"a":["b"]}`)),
			"SubscriptionArn")
		st.Does("Subscribe", phone("+15551234567"), sub)
		st.Does("GetSubscriptionAttributes", with{"SubscriptionArn", sub}, entry("Protocol", "sms"),
			entry("Endpoint", "+15551234567"),
			entry("PendingConfirmation", "false"), entry("RawMessageDelivery", "false"),
			entry("FilterPolicy", `{"a":["b"]}`))
		for _, number := range []string{"1-555-123-4567", "+1.555/123.4568", "491701234567"} {
			st.Does("Subscribe", phone(number))
		}
		for _, number := range []string{"", "x", "+", "+0123", "+1--555", "-1555", "1555.", "+1234567890123456",
			"+1 555"} {
			st.Refuses("Subscribe", phone(number), 400, invalid, "Invalid SMS endpoint: "+number)
		}
		const raw = "Delivery protocol [sms] does not support raw message delivery."
		for _, value := range []string{"true", "false"} {
			st.Refuses("Subscribe", phone("+15551234569", "RawMessageDelivery", value), 400, invalid,
				"Invalid parameter: Attributes Reason: "+raw)
			st.Refuses("SetSubscriptionAttributes",
				with{"SubscriptionArn", sub, "AttributeName", "RawMessageDelivery", "AttributeValue", value},
				400, invalid, "Invalid parameter: "+raw)
		}
		fifo := with{"TopicArn", topicARN("a.fifo"), "Protocol", "sms", "Endpoint", "+15551234567"}
		st.Refuses("Subscribe", fifo, 400, invalid, "Invalid parameter: Invalid protocol type: sms")
		st.Does("Unsubscribe", with{"SubscriptionArn", sub})
		st.Fails("GetSubscriptionAttributes", with{"SubscriptionArn", sub}, 404, "NotFound",
			"Subscription does not exist")
	})
}

// No phone gets a message: it goes to the subscription's dead-letter queue, in the form for its protocol.
func TestMessagesForPhonesAreDeadLetters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	dlq := r.queue(r.root, "dlq", "news", nil)
	phone := func(number string, attributes map[string]string) string {
		out, err := r.root.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
			TopicArn: &topic, Protocol: aws.String("sms"), Endpoint: &number, Attributes: attributes,
		})
		return *apitest.Must(t, out, err).SubscriptionArn
	}
	phone("+15551234567", nil) // whose messages are lost
	sub := phone("+15551234568", map[string]string{
		"RedrivePolicy": `{"deadLetterTargetArn":"` + queueARN("dlq") + `"}`,
	})
	r.publish(r.root, topic, `{"default":"d","sms":"short"}`,
		func(in *sns.PublishInput) { in.MessageStructure = aws.String("json") })
	var e struct{ Type, Message string }
	got := r.receive(r.root, dlq)
	if len(got) != 1 || json.Unmarshal([]byte(*got[0].Body), &e) != nil || e.Type != "Notification" ||
		e.Message != "short" {
		t.Errorf("%+v", got)
	}
	_, err := r.root.SNS.Unsubscribe(t.Context(), &sns.UnsubscribeInput{SubscriptionArn: &sub})
	apitest.Must(t, 0, err)
	r.publish(r.root, topic, "m")
	apitest.Equal(t, r.bodies(r.root, dlq), nil)
}

// An account without phones has empty lists of them, and is in the sandbox.
func TestAccountWithoutPhones(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		for action, want := range map[string]string{
			"GetSMSSandboxAccountStatus": "<IsInSandbox>true</IsInSandbox>",
			"ListOriginationNumbers":     "<PhoneNumbers/>",
			"ListPhoneNumbersOptedOut":   "<phoneNumbers/>",
			"ListPlatformApplications":   "<PlatformApplications/>",
			"ListSMSSandboxPhoneNumbers": "<PhoneNumbers/>",
		} {
			st.Does(action, nil, "<"+action+"Result>"+want+"</"+action+"Result>")
		}
		for action, token := range map[string]string{
			"ListOriginationNumbers": "NextToken", "ListPhoneNumbersOptedOut": "nextToken",
			"ListPlatformApplications":   "NextToken",
			"ListSMSSandboxPhoneNumbers": "NextToken",
		} {
			st.Refuses(action, with{token, "x"}, 400, invalid, "Invalid parameter: NextToken")
		}
		for action, most := range map[string]string{
			"ListOriginationNumbers": "30", "ListSMSSandboxPhoneNumbers": "100",
		} {
			const failed = "1 validation error detected: Value '%s' at 'maxResults' failed to satisfy constraint: Member must have value "
			st.Does(action, with{"MaxResults", most})
			st.Refuses(action, with{"MaxResults", "0"}, 400, "ValidationError",
				fmt.Sprintf(failed, "0")+"greater than or equal to 1")
			st.Refuses(action, with{"MaxResults", "101"}, 400, "ValidationError",
				fmt.Sprintf(failed, "101")+"less than or equal to "+most)
		}
		number := with{"phoneNumber", "+15551234567"}
		st.Does("CheckIfPhoneNumberIsOptedOut", number,
			"<CheckIfPhoneNumberIsOptedOutResult><isOptedOut>false</isOptedOut></CheckIfPhoneNumberIsOptedOutResult>")
		st.Does("OptInPhoneNumber", number, "<OptInPhoneNumberResult/>")
		for _, action := range []string{"CheckIfPhoneNumberIsOptedOut", "OptInPhoneNumber"} {
			for _, bad := range []string{"", "x", "5551234567", "+1-555"} {
				st.Refuses(action, with{"phoneNumber", bad}, 400, invalid,
					"Invalid parameter: PhoneNumber Reason: input incorrectly formatted")
			}
			st.Refuses(action, nil, 400, "ValidationError",
				"1 validation error detected: Value null at 'phoneNumber' failed to satisfy constraint: Member must not be null")
		}
		st.Fails("CreatePlatformApplication", nil, 400, "UnsupportedOperation", "CreatePlatformApplication")
	})
}

// The SMS attributes of an account are stored by region. Without a value they are removed.
func TestSMSAttributes(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		smsAttributes := func(pairs ...string) (in with) {
			for i := 0; i < len(pairs); i += 2 {
				at := fmt.Sprintf("attributes.entry.%d.", i/2+1)
				in = append(in, at+"key", pairs[i], at+"value", pairs[i+1])
			}
			return in
		}
		answer := func(entries string) string {
			return "<GetSMSAttributesResult><attributes>" + entries + "</attributes></GetSMSAttributesResult>"
		}
		limit := entry("MonthlySpendLimit", "1")
		st.Does("GetSMSAttributes", nil, answer(limit))
		st.Does("SetSMSAttributes", smsAttributes("DefaultSMSType", "Transactional", "DefaultSenderID", "a-1"),
			"<SetSMSAttributesResult/>")
		st.Does("SetSMSAttributes", smsAttributes("DeliveryStatusSuccessSamplingRate", "100", "DefaultSenderID", ""))
		st.Does("GetSMSAttributes", nil,
			answer(entry("DefaultSMSType", "Transactional")+entry("DeliveryStatusSuccessSamplingRate", "100")+limit))
		st.Does("GetSMSAttributes",
			with{"attributes.member.1", "DefaultSMSType", "attributes.member.2", "UsageReportS3Bucket"},
			answer(entry("DefaultSMSType", "Transactional")))
		st.Does("SetSMSAttributes",
			smsAttributes("MonthlySpendLimit", "0", "DeliveryStatusIAMRole", "arn:aws:iam::"+account+":role/logs",
				"UsageReportS3Bucket", "reports"))
		for name, value := range map[string]string{
			"DefaultSMSType": "promotional", "DefaultSenderID": "123", "DeliveryStatusIAMRole": "role",
			"DeliveryStatusSuccessSamplingRate": "101", "MonthlySpendLimit": "-1",
		} {
			st.Refuses("SetSMSAttributes", smsAttributes(name, value), 400, invalid, name+" is invalid")
		}
		st.Refuses("SetSMSAttributes", smsAttributes("UsageReportS3Bucket", "A"), 400, invalid,
			"Invalid parameter: UsageReportS3Bucket Reason: The bucket you provided does not exist")
		st.Refuses("SetSMSAttributes", smsAttributes("Nonsense", "1"), 400, invalid,
			"Nonsense is not a valid attribute")
		st.Refuses("SetSMSAttributes", nil, 400, "ValidationError",
			"1 validation error detected: Value null at 'attributes' failed to satisfy constraint: Member must not be null")
	})
}

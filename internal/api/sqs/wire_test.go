package sqs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// Requests that are valid in only one of the protocols.

func serialization(message string) refusal {
	return generic("SerializationException", "MalformedInput", 400, message)
}

// A document that does not follow the protocol.
func TestMalformedJSON(t *testing.T) {
	t.Parallel()
	c := newClient(t, inJSON)
	c.Make("CreateQueue", object{"QueueName": "q"})
	for _, tc := range []struct{ op, body, message string }{
		{"ListQueues", `{`, "The request body is not valid: it ends after 1 bytes."},
		{"ListQueues", ``, "The request body is not valid: it ends after 0 bytes."},
		{"ListQueues", `[]`, "Start of list found where not expected"},
		{"ListQueues", `"x"`, "Expected map or null"},
		{"ListQueues", `{} x`, "The request body is not valid: unexpected 'x' at byte 3."},
		{"ListQueues", `{"QueueNamePrefix":"\x"}`, "The request body is not valid: unexpected 'x' at byte 21."},
		{"ListQueues", `{"QueueNamePrefix":["a"]}`, "Start of list found where not expected"},
		{"ListQueues", `{"QueueNamePrefix":{}}`, "Start of structure or map found where not expected."},
		{"ListQueues", `{"QueueNamePrefix":1}`, "NUMBER_VALUE can not be converted to a String"},
		{"ListQueues", `{"MaxResults":"1"}`, "STRING_VALUE can not be converted to an Integer"},
		{"ListQueues", `{"MaxResults":1.5}`, "DECIMAL_VALUE can not be converted to an Integer"},
		{"ListQueues", `{"MaxResults":4294967297}`, "NUMBER_VALUE can not be converted to an Integer"},
		{"CreateQueue", `{"QueueName":"new","Attributes":{"DelaySeconds":5}}`,
			"NUMBER_VALUE can not be converted to a String"},
		{"CreateQueue", `{"QueueName":"new","tags":[]}`, "Start of list found where not expected"},
		{"SendMessageBatch", `{"QueueUrl":"q","Entries":{}}`, "Start of structure or map found where not expected."},
		{"SendMessageBatch", `{"QueueUrl":"q","Entries":[null]}`, "NULL_VALUE found in a list"},
		{"SendMessage",
			`{"QueueUrl":"q","MessageBody":"m","MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"no base64"}}}`,
			"The value of a blob is not valid Base64."},
	} {
		r := c.JSONRequest(tc.op, tc.body)
		c.Sign(r)
		c.Compare(tc.op+" "+tc.body, nil, c.Send(tc.op, r), serialization(tc.message))
	}
	// Surrogates without a partner are not characters.
	for _, body := range []string{`\ud800`, `\udc00\ud800`, `a\udfffb`} {
		r := c.JSONRequest("SendMessage", `{"QueueUrl":"q","MessageBody":"`+body+`"}`)
		c.Sign(r)
		c.Compare(body, nil, c.Send("SendMessage", r),
			modelled("InvalidMessageContents", "InvalidMessageContents", 400, badContents))
	}
	c.OK("ListQueues", nil, object{"QueueUrls": list{c.URL("q")}})
	c.OK("ReceiveMessage", object{"QueueUrl": "q"}, object{})

	// Unknown members do no harm, null equals absent, and the names of members are case-sensitive.
	for body, want := range map[string]int{
		`{"MaxResults":null,"Whatever":{"x":[1,{}]}}`: 200,
		`{"maxresults":0}`:                            200,
		`{"MaxResults":0}`:                            400,
	} {
		r := c.JSONRequest("ListQueues", body)
		c.Sign(r)
		if a := c.Send("ListQueues", r); a.Status != want {
			t.Errorf("%s returns %d %s", body, a.Status, a.Body)
		}
	}
}

func TestUnknownOperation(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		unknown := func(op string) refusal {
			return generic("UnknownOperationException", "InvalidAction", 400,
				"The action "+op+" is not valid for this endpoint.")
		}
		for _, op := range []string{"FooBar", "sendMessage", "SendMessages", "PeekMessage", `<a>&"`} {
			c.Fails(op, nil, unknown(op))
		}
		if c.Dialect == inJSON {
			r := c.JSONRequest("ListQueues", "{}")
			r.Header.Set("X-Amz-Target", "AmazonSNS.ListQueues")
			c.Sign(r)
			c.Compare("another service", nil, c.Send("ListQueues", r), unknown("ListQueues"))
			return
		}
		// These two create or find queues, and act on none.
		queue := c.At("/" + account + "/q")
		queue.Fails("CreateQueue", object{"QueueName": "q"}, unknown("CreateQueue"))
		queue.Fails("ListQueues", nil, unknown("ListQueues"))
	})
}

// JSON is accepted on any path.
func TestJSONOnQueuePath(t *testing.T) {
	t.Parallel()
	c := newClient(t, inJSON)
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("CreateQueue", object{"QueueName": "other"})
	at := c.At("/" + account + "/other")
	at.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
	at.Make("ListQueues", nil)
	at.Make("CreateQueue", object{"QueueName": "third"})
	at.OK("ReceiveMessage", object{"QueueUrl": c.URL("other")}, object{}) // the body says which
	at.Fails("ReceiveMessage", nil, noQueue)                              // and only the body
	if got := c.Make("ReceiveMessage", object{"QueueUrl": c.URL("q")}); got["Messages"] == nil {
		t.Error("the message has not arrived")
	}
}

// The queue that a request names.
func TestQueueAddresses(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q"})
		want := object{"Attributes": object{"QueueArn": c.ARN("q")}}
		names := list{"QueueArn"}
		for _, u := range []string{
			c.URL("q"), "q", account + "/q", "/" + account + "/q", c.URL("q") + "/",
			"http://localhost:4566/" + account + "/q", "https://queue.amazonaws.com/" + account + "/q",
			"https://sqs." + c.Region + ".amazonaws.com/" + account + "/q",
			"https://" + c.Region + ".queue.amazonaws.com/" + account + "/q",
			"https://sqs.eu-fake-99.amazonaws.com/" + account + "/q",
			"https://sqs.us-east-1.example.com/" + account + "/q",
			"http://localhost:4566/queue/us-east-1/" + account + "/q",
			"ftp://[::1]:1/a/b/c/" + account + "/q",
		} {
			c.OK("GetQueueAttributes", object{"QueueUrl": u, "AttributeNames": names}, want)
		}
		if c.Dialect == inJSON {
			return
		}
		c.Make("CreateQueue", object{"QueueName": "other"})
		for _, path := range []string{"/" + account + "/q", "/" + account + "/q/", "/q",
			"/some/prefix/" + account + "/q"} {
			on := c.At(path)
			on.OK("GetQueueAttributes", object{"AttributeNames": names}, want)
			on.OK("GetQueueAttributes", object{"QueueUrl": c.URL("other"), "AttributeNames": names}, object{
				"Attributes": object{"QueueArn": c.ARN("other")},
			})
			on.OK("GetQueueUrl", object{"QueueName": "q"}, object{"QueueUrl": c.URL("q")})
			on.OK("GetQueueUrl", object{"QueueName": "other", "QueueOwnerAWSAccountId": account}, object{
				"QueueUrl": c.URL("other"),
			})
		}
		on := c.At("/" + account + "/q")
		on.Make("SendMessage", object{"MessageBody": "m"})
		on.OK("ReceiveMessage", nil, object{"Messages": list{someMessage}})
		on.Make("DeleteQueue", nil)
		on.Fails("ReceiveMessage", nil, noQueue)
	})
}

// someMessage is a received message with arbitrary fields.
func TestAPIVersions(t *testing.T) {
	t.Parallel()
	for _, d := range []apitest.Dialect{inForm, inURL} {
		c := newClient(t, d)
		var names []string
		// All versions see the same queues.
		for i, version := range []string{"2008-01-01", "2009-02-01", "2011-10-01", "2012-11-05", ""} {
			c.Version = version
			name := fmt.Sprint("q", i)
			c.OK("CreateQueue", object{"QueueName": name, "DefaultVisibilityTimeout": 40}, object{
				"QueueUrl": c.URL(name),
			})
			names = append(names, name)
			var urls list
			for _, n := range names {
				urls = append(urls, c.URL(n))
			}
			c.OK("ListQueues", nil, object{"QueueUrls": urls})
			on := c.At("/" + account + "/" + name)
			on.OK("GetQueueAttributes", object{"AttributeName": "VisibilityTimeout"}, object{
				"Attributes": object{"VisibilityTimeout": 40},
			})
			on.OK("SetQueueAttributes", object{"Attribute.Name": "VisibilityTimeout", "Attribute.Value": 35}, object{})
			on.OK("GetQueueAttributes", object{"AttributeName.1": "VisibilityTimeout"}, object{
				"Attributes": object{"VisibilityTimeout": 35},
			})
			on.Make("SendMessage", object{"MessageBody": "m"})
			m := on.Make("ReceiveMessage", object{"AttributeName": "All"})["Messages"].(list)[0].(object)
			if m["Attributes"].(object)["ApproximateReceiveCount"] != "1" {
				t.Errorf("%s: %v", version, m)
			}
			on.Make("DeleteMessage", object{"ReceiptHandle": m["ReceiptHandle"]})
			on.Make("ListQueueTags", nil) // which those versions lacked
		}
		c.Version = "2012-11-05"
		// The timeout parameter is validated like the attribute.
		c.Fails("CreateQueue", object{"QueueName": "q0", "DefaultVisibilityTimeout": 41},
			modelled("QueueNameExists", "QueueAlreadyExists", 400,
				"A queue already exists with the same name and a different value for attribute VisibilityTimeout"))
		c.Fails("CreateQueue", object{"QueueName": "new", "DefaultVisibilityTimeout": "x"},
			attributeValue("Invalid value for the parameter VisibilityTimeout. Reason: Must be an integer from 0 to 43200."))
		c.Version = "2012-11-06"
		c.Fails("ListQueues", nil, refusal{
			Code: "NoSuchVersion", Status: 400, Message: "The version 2012-11-06 does not exist for this web service.",
		})
		c.Version = "latest"
		c.Fails("ListQueues", nil, refusal{
			Code: "MalformedVersion", Status: 400, Message: "The version latest is not a date of the form YYYY-MM-DD.",
		})
	}
}

// Former spellings of parameters.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, d := range []apitest.Dialect{inForm, inURL} {
		c := newClient(t, d)
		c.Make("CreateQueue", object{
			"QueueName": "q", "Tags.1.Key": "a", "Tags.1.Value": "1", "Tags.2.Value": "2", "Tags.2.Key": "b",
		})
		c.OK("ListQueueTags", object{"QueueUrl": "q"}, object{"Tags": object{"a": "1", "b": "2"}})
		c.Make("TagQueue", object{"QueueUrl": "q", "Tags.7.Value": "3", "Tags.7.Key": "c"})
		c.Make("TagQueue", object{"QueueUrl": "q", "Tag.Key": "d", "Tag.Value": "4"})
		c.Make("UntagQueue", object{"QueueUrl": "q", "TagKey": "a"})
		c.Make("UntagQueue", object{"QueueUrl": "q", "TagKey.9": "b"})
		c.OK("ListQueueTags", object{"QueueUrl": "q"}, object{"Tags": object{"c": "3", "d": "4"}})

		c.Make("SetQueueAttributes", object{"QueueUrl": "q", "Attribute.Value": "1", "Attribute.Name": "DelaySeconds"})
		c.Make("SetQueueAttributes", object{
			"QueueUrl": "q", "Attribute.3.Value": "44", "Attribute.3.Name": "VisibilityTimeout",
		})
		c.OK("GetQueueAttributes",
			object{"QueueUrl": "q", "AttributeName.1": "DelaySeconds", "AttributeName.02": "VisibilityTimeout"},
			object{"Attributes": object{"DelaySeconds": 1, "VisibilityTimeout": 44}})
		c.Make("SetQueueAttributes", object{
			"QueueUrl": "q", "Attribute.1.Name": "DelaySeconds", "Attribute.1.Value": 0,
		})

		// The timer of 2011: the modelled name is DelaySeconds.
		c.Make("SendMessage", object{
			"QueueUrl": "q", "MessageBody": "m", "Attribute.Name": "DelaySeconds", "Attribute.Value": 45,
		})
		c.Make("SendMessage", object{
			"QueueUrl": "q", "MessageBody": "m", "DelaySeconds": 0, "Attribute.1.Name": "DelaySeconds",
			"Attribute.1.Value": 45,
		})
		c.OK("GetQueueAttributes",
			object{
				"QueueUrl": "q", "AttributeName.1": "ApproximateNumberOfMessages",
				"AttributeName.2": "ApproximateNumberOfMessagesDelayed",
			},
			object{"Attributes": object{"ApproximateNumberOfMessages": 1, "ApproximateNumberOfMessagesDelayed": 1}})
		c.Fails("SendMessage",
			object{"QueueUrl": "q", "MessageBody": "m", "Attribute.Name": "DelaySeconds", "Attribute.Value": "soon"},
			invalid("Value soon for parameter DelaySeconds is invalid. Reason: DelaySeconds must be an integer."))
		c.Fails("SendMessage",
			object{"QueueUrl": "q", "MessageBody": "m", "Attribute.Name": "DelaySeconds", "Attribute.Value": "901"},
			invalid("Value 901 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900."))

		m := c.Make("ReceiveMessage", object{
			"QueueUrl": "q", "AttributeName.1": "SenderId", "MessageSystemAttributeName.1": "ApproximateReceiveCount",
		})
		if err := apitest.Match(object{"SenderId": account, "ApproximateReceiveCount": 1},
			m["Messages"].(list)[0].(object)["Attributes"]); err != nil {
			t.Error(err)
		}
	}
}

// Invalid parameters.
func TestMalformedParameters(t *testing.T) {
	t.Parallel()
	for _, d := range []apitest.Dialect{inForm, inURL} {
		c := newClient(t, d)
		c.Make("CreateQueue", object{"QueueName": "q"})
		before := dumpRegion(c)
		for _, tc := range []refusalCase{
			{"SetQueueAttributes", object{"QueueUrl": "q", "Attribute.Name": "DelaySeconds"},
				missing("Attribute.Value")},
			{"SetQueueAttributes", object{"QueueUrl": "q", "Attribute.1.Name": "DelaySeconds"},
				missing("Attribute.1.Value")},
			{"SetQueueAttributes", object{"QueueUrl": "q", "Attribute.1.Value": "1"}, missing("Attribute.1.Name")},
			{"SetQueueAttributes",
				object{"QueueUrl": "q", "Attributes.1.Name": "DelaySeconds", "Attributes.1.Value": "1"},
				missing("Attribute.Name")},
			{"TagQueue", object{"QueueUrl": "q", "Tag.1.Key": "a"}, missing("Tag.1.Value")},
			{"CreateQueue", object{"QueueName": "new", "Attribute.2.Name": "DelaySeconds"},
				missing("Attribute.2.Value")},
			{"SendMessage", object{"QueueUrl": "q", "MessageBody": "m", "DelaySeconds": "1.5"},
				invalid("Value 1.5 for parameter DelaySeconds is invalid. Reason: Must be an integer.")},
			{"SendMessage", object{"QueueUrl": "q", "MessageBody": "m", "MessageAttribute.1.Name": "a"},
				missing("MessageAttribute.1.Value")},
			{"SendMessage",
				object{"QueueUrl": "q", "MessageBody": "m", "MessageAttribute.1.Name": "a",
					"MessageAttribute.1.Value.DataType":    "Binary",
					"MessageAttribute.1.Value.BinaryValue": "?"},
				invalid("Value ? for parameter MessageAttribute.1.Value.BinaryValue is invalid. Reason: Must be valid Base64.")},
			{"ReceiveMessage", object{"QueueUrl": "q", "MaxNumberOfMessages": "many"},
				invalid("Value many for parameter MaxNumberOfMessages is invalid. Reason: Must be an integer.")},
			{"ReceiveMessage", object{"QueueUrl": "q", "WaitTimeSeconds": ""},
				invalid("Value  for parameter WaitTimeSeconds is invalid. Reason: Must be an integer.")},
			{"ReceiveMessage", object{"QueueUrl": "q", "VisibilityTimeout": "99999999999"},
				invalid("Value 99999999999 for parameter VisibilityTimeout is invalid. Reason: Must be an integer.")},
			{"ReceiveMessage", object{"QueueUrl": "q", "AttributeName.99999999999": "All"},
				invalid("The index of the parameter AttributeName.99999999999 is too large.")},
			{"ListQueues", object{"MaxResults": "x"},
				invalid("Value x for parameter MaxResults is invalid. Reason: Must be an integer.")},
		} {
			c.Fails(tc.op, tc.in, tc.want)
		}
		// Bytes that are not text.
		r := c.FormRequest(d, "Action=SendMessage&Version=2012-11-05&QueueUrl=q&MessageBody=a%ffb")
		c.Sign(r)
		c.Compare("%ff", nil, c.Send("SendMessage", r),
			modelled("InvalidMessageContents", "InvalidMessageContents", 400, badContents))

		// Invalid escapes: in the URL the signature cannot be verified, in the body the parameters cannot be read.
		r = c.FormRequest(inForm, "Action=SendMessage&QueueUrl=q&MessageBody=%zz")
		c.Sign(r)
		c.Compare("%zz", nil, c.Send("SendMessage", r), refusal{Code: "MalformedQueryString", Status: 404,
			Message: "The value of the parameter MessageBody has a percent sign that two hexadecimal digits do not follow."})

		if after := dumpRegion(c); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("the state has changed:\nbefore %v\nafter  %v", before, after)
		}
	}

	c := newClient(t, inForm)
	r := c.FormRequest(inForm, "Version=2012-11-05")
	c.Sign(r)
	c.Compare("no action", nil, c.Send("", r), refusal{
		Code: "MissingAction", Status: 400, Message: "The request must contain the parameter Action.",
	})
	r = c.NewRequest(http.MethodPost, "", "<soap/>")
	r.Header.Set("Content-Type", "text/xml")
	c.Sign(r)
	c.Compare("SOAP", nil, c.Send("", r), refusal{Code: "InvalidRequest", Status: 400,
		Message: "SOAP has not been supported since 2011-08-08. Use the Query protocol or JSON."})
	r = c.NewRequest(http.MethodPut, "?Action=ListQueues", "")
	c.Sign(r)
	a := c.Send("", r)
	c.Compare("PUT", nil, a, refusal{
		Code: "InvalidHttpRequest", Status: 405, Message: "The HTTP method PUT is not supported; use GET or POST.",
	})
	if a.Header.Get("Allow") != "GET, POST" {
		t.Errorf("Allow is %q", a.Header.Get("Allow"))
	}
}

// A request without an action, such as a browser's for a queue URL, is answered by the front end, not by the service.
func TestNoAction(t *testing.T) {
	t.Parallel()
	c := newClient(t, inURL)
	for _, path := range []string{"/?nothing", "/" + account + "/q"} {
		for _, accept := range []string{"", "application/json"} {
			r := c.At(path).NewRequest(http.MethodGet, "", "")
			r.Header.Set("Accept", accept)
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body := make([]byte, 100)
			n, _ := response.Body.Read(body)
			response.Body.Close()
			if response.StatusCode != 404 || string(body[:n]) != "<UnknownOperationException/>" ||
				response.Header.Get("x-amzn-RequestId") == "" {
				t.Errorf("GET %s, Accept %q: %d %s", path, accept, response.StatusCode, body[:n])
			}
		}
	}
}

// Clients without an SDK can get JSON answers to Query requests.
func TestAcceptJSON(t *testing.T) {
	t.Parallel()
	for _, d := range []apitest.Dialect{inForm, inURL} {
		c := newClient(t, d)
		c.Make("CreateQueue", object{"QueueName": "q", "tags": object{"k": "v"}})
		call := func(op string, in object, status int) object {
			t.Helper()
			r := c.Request(op, in)
			r.Header.Set("Accept", "application/json")
			c.Sign(r)
			a := c.Send(op, r)
			if a.Status != status || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d, %s", op, a.Status, a.Header.Get("Content-Type"))
			}
			var m object
			if err := json.Unmarshal(a.Body, &m); err != nil {
				t.Fatalf("%s: %v", a.Body, err)
			}
			id := m["RequestId"]
			if status == 200 {
				m = m[op+"Response"].(object)
				id = m["ResponseMetadata"].(object)["RequestId"]
				m, _ = m[op+"Result"].(object)
			}
			if id != a.Header.Get("x-amzn-RequestId") {
				t.Errorf("%s: the RequestId is not that of the header in %s", op, a.Body)
			}
			return m
		}
		if got := call("ListQueues", nil, 200); fmt.Sprint(got["queueUrls"]) != "["+c.URL("q")+"]" {
			t.Errorf("ListQueues: %v", got)
		}
		if got := call("GetQueueUrl", object{"QueueName": "q"}, 200); got["QueueUrl"] != c.URL("q") {
			t.Errorf("GetQueueUrl: %v", got)
		}
		if got := call("GetQueueAttributes", object{"QueueUrl": "q", "AttributeNames": list{"QueueArn"}},
			200); fmt.Sprint(got["Attributes"]) != "[map[Name:QueueArn Value:"+c.ARN("q")+"]]" {
			t.Errorf("GetQueueAttributes: %v", got)
		}
		call("SendMessage", object{"QueueUrl": "q", "MessageBody": "<m>", "MessageAttributes": object{"a": text("b")}},
			200)
		got := call("ReceiveMessage", object{"QueueUrl": "q", "MessageAttributeNames": list{"All"}}, 200)
		messages, _ := got["messages"].([]any)
		if len(messages) != 1 || messages[0].(object)["Body"] != "<m>" {
			t.Errorf("ReceiveMessage: %v", got)
		}
		if got := call("PurgeQueue", object{"QueueUrl": "q"}, 200); got != nil {
			t.Errorf("PurgeQueue: %v", got)
		}
		e, _ := call("GetQueueUrl", object{"QueueName": "nobody"}, 400)["Error"].(object)
		if e["Code"] != noQueue.Code || e["Message"] != noQueue.QueryMessage || e["Type"] != "Sender" {
			t.Errorf("error: %v", e)
		}
	}
}

// Text that is dangerous in XML is returned unchanged.
func TestXMLText(t *testing.T) {
	t.Parallel()
	c := newClient(t, inForm)
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("SendMessage", object{"QueueUrl": "q", "MessageBody": "\"<&>'\r\n\t]]>"})
	r := c.Request("ReceiveMessage", object{"QueueUrl": "q"})
	c.Sign(r)
	a := c.Send("ReceiveMessage", r)
	if !strings.Contains(string(a.Body), "<Body>&quot;&lt;&amp;&gt;'&#xD;\n\t]]&gt;</Body>") {
		t.Errorf("%s", a.Body)
	}
	r = c.Request("ReceiveMessage", object{"QueueUrl": "q"})
	c.Sign(r)
	if a := c.Send("ReceiveMessage", r); !strings.Contains(string(a.Body), "<ReceiveMessageResult/>") {
		t.Errorf("%s", a.Body)
	}
}

// The Query API examples of the developer guide, as printed, signed for its regions and hosts.
func TestGuideExamples(t *testing.T) {
	t.Parallel()
	const expires = "2014-05-05T22%3A52%3A43PST" // Version 4 does not look at it
	for _, ex := range []struct{ method, host, path, parameters string }{
		// Endpoints
		{"GET", "sqs.eu-west-1.amazonaws.com", "/", `Action=CreateQueue
			&DefaultVisibilityTimeout=40
			&QueueName=testQueue
			&Version=2009-02-01`},
		// Delay queues
		{"GET", "sqs.cn-north-1.amazonaws.com", "/", `Action=CreateQueue
			&QueueName=testQueue
			&Attribute.1.Name=DelaySeconds
			&Attribute.1.Value=45
			&Version=2011-10-01
			&Expires=2011-10-20T22%3A52%3A43PST`},
		{"GET", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/testQueue/", `Action=SetQueueAttributes
			&Attribute.Name=DelaySeconds
			&Attribute.Value=45
			&Version=2011-10-01
			&Expires=2011-10-20T22%3A52%3A43PST`},
		// Message timers
		{"GET", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/testQueue/", `Action=SendMessage
			&MessageBody=This+is+a+test+message
			&Attribute.Name=DelaySeconds
			&Attribute.Value=45
			&Version=2011-10-01
			&Expires=2011-10-18T22%3A52%3A43PST`},
		{"GET", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/testQueue/", `Action=SendMessageBatch
			&SendMessageBatchRequestEntry.1.Id=test_msg_no_message_timer
			&SendMessageBatchRequestEntry.1.MessageBody=test%20message%20body%201
			&SendMessageBatchRequestEntry.2.Id=test_msg_delay_45_seconds
			&SendMessageBatchRequestEntry.2.MessageBody=test%20message%20body%202
			&SendMessageBatchRequestEntry.2.DelaySeconds=45
			&SendMessageBatchRequestEntry.3.Id=test_msg_delay_2_minutes
			&SendMessageBatchRequestEntry.3.MessageBody=test%20message%20body%203
			&SendMessageBatchRequestEntry.3.DelaySeconds=120
			&Version=2011-10-01
			&Expires=2011-10-18T22%3A52%3A43PST`},
		// Long polling. The stray semicolon is the guide's; in a URL it must be escaped, as the guide says of all
		// values.
		{"GET", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/testQueue/", `Action=SetQueueAttributes
			&Attribute.Name=ReceiveMessageWaitTimeSeconds
			&Attribute.Value=20
			&Version=2012-11-05
			&Expires=2013-10-25T22%3A52%3A43PST`},
		{"GET", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/MyQueue/", `Action=ReceiveMessage
			&WaitTimeSeconds=10
			&MaxNumberOfMessages=5
			&VisibilityTimeout=15
			&AttributeName=All%3B
			&Version=2012-11-05
			&Expires=2013-10-25T22%3A52%3A43PST`},
		{"POST", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/MyQueue/", `Action=ReceiveMessage
			&WaitTimeSeconds=10
			&MaxNumberOfMessages=5
			&VisibilityTimeout=15
			&AttributeName=All;
			&Version=2012-11-05
			&Expires=2013-10-25T22%3A52%3A43PST`},
		// Message attributes
		{"POST", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/MyQueue", `Action=SendMessage
			&MessageBody=This+is+a+test+message
			&MessageAttribute.1.Name=test_attribute_name_1
			&MessageAttribute.1.Value.StringValue=test_attribute_value_1
			&MessageAttribute.1.Value.DataType=String
			&MessageAttribute.2.Name=test_attribute_name_2
			&MessageAttribute.2.Value.StringValue=test_attribute_value_2
			&MessageAttribute.2.Value.DataType=String
			&Version=2012-11-05
			&Expires=` + expires},
		{"POST", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/MyQueue", `Action=SendMessageBatch
			&SendMessageBatchRequestEntry.1.Id=test_msg_001
			&SendMessageBatchRequestEntry.1.MessageBody=test%20message%20body%201
			&SendMessageBatchRequestEntry.2.Id=test_msg_002
			&SendMessageBatchRequestEntry.2.MessageBody=test%20message%20body%202
			&SendMessageBatchRequestEntry.2.DelaySeconds=60
			&SendMessageBatchRequestEntry.2.MessageAttribute.1.Name=test_attribute_name_1
			&SendMessageBatchRequestEntry.2.MessageAttribute.1.Value.StringValue=test_attribute_value_1
			&SendMessageBatchRequestEntry.2.MessageAttribute.1.Value.DataType=String
			&Version=2012-11-05
			&Expires=` + expires},
		// Query requests
		{"GET", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/queue1",
			`Action=SendMessage&MessageBody=Your%20Message%20Text&Version=2012-11-05`},
		{"GET", "sqs.cn-north-1.amazonaws.com", "/ACCOUNT/queue1", `Action=SendMessage
			&MessageBody=Your%20Message%20Text
			&Version=2012-11-05
			&Expires=2011-10-15T12:00:00Z`},
		{"POST", "sqs.cn-north-1.amazonaws.com", "/queue1", `Action=SendMessage
			&MessageBody=Your+Message+Text
			&Version=2012-11-05
			&Expires=2011-10-15T12%3A00%3A00Z`},
	} {
		parameters := strings.NewReplacer("\n", "", "\t", "").Replace(ex.parameters)
		for _, version := range []int{4, 2} {
			t.Run(fmt.Sprintf("version %d/%s %s %.60s", version, ex.method, ex.path, parameters), func(t *testing.T) {
				// Some examples wait for long polls, so they run in parallel, each on its own server.
				t.Parallel()
				config := servertest.InMemory()
				config.Accounts = config.Accounts[:1]
				s, _ := servertest.Start(t, config)
				cred := s.Root()
				c := newClient(t, inForm)
				c.Base, c.Cred = s.Endpoint(), cred
				c.Region = strings.Split(ex.host, ".")[1]
				if ex.path != "/" {
					for _, name := range []string{"testQueue", "MyQueue", "queue1"} {
						c.Make("CreateQueue", object{"QueueName": name})
					}
					c.Make("SendMessage", object{"QueueUrl": "MyQueue", "MessageBody": "m"})
				}
				parameters := parameters
				if version == 2 {
					// The guide says how to sign the rest; its dates are past.
					before, _, _ := strings.Cut(parameters, "&Expires=")
					parameters = before
				}
				values, err := url.ParseQuery(strings.ReplaceAll(parameters, "All;", "All%3B"))
				if err != nil {
					t.Fatal(err)
				}
				c.Version = values.Get("Version")
				query, body := "", parameters
				if ex.method == "GET" {
					query, body = "?"+parameters, ""
				}
				path := strings.ReplaceAll(ex.path, "ACCOUNT", account)
				r := c.At(path).NewRequest(ex.method, query, body)
				r.Host = ex.host
				if ex.method == "POST" {
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				}
				if version == 4 {
					c.Sign(r)
				} else {
					r = apitest.SignVersion2(t, r, values, cred, apitest.Version2{})
				}
				a := c.Send(values.Get("Action"), r)
				if a.Status != 200 {
					t.Fatalf("%d %s", a.Status, a.Body)
				}
				if u := a.Result["QueueUrl"]; u != nil && u != "http://"+ex.host+"/"+account+"/testQueue" {
					t.Errorf("QueueUrl is %v", u)
				}
				if values.Get("Action") == "ReceiveMessage" && a.Result["Messages"] == nil {
					t.Error("the message has not arrived")
				}
				if values.Get("MessageBody") == "This is a test message" &&
					a.Result["MD5OfMessageBody"] != "fafb00f5732ab283681e124bf8747ed1" {
					t.Errorf("%v", a.Result)
				}
			})
		}
	}
}

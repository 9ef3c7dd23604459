package sqs_test

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// The members of each operation's successful answer: exactly these.

func TestQueueShapes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.OK("ListQueues", nil, object{})
		c.OK("CreateQueue", object{"QueueName": "b"}, object{"QueueUrl": c.URL("b")})
		c.OK("CreateQueue",
			object{"QueueName": "a", "Attributes": object{"DelaySeconds": "5", "VisibilityTimeout": "60"}},
			object{"QueueUrl": c.URL("a")})
		longest := strings.Repeat("x", 75) + ".fifo"
		c.OK("CreateQueue", object{"QueueName": longest, "Attributes": object{"FifoQueue": "tRUE"}}, object{
			"QueueUrl": c.URL(longest),
		})
		c.OK("CreateQueue", object{"QueueName": strings.Repeat("Y_", 40)}, object{
			"QueueUrl": c.URL(strings.Repeat("Y_", 40)),
		})

		// Again: only the attributes in the request are compared, with their current values.
		c.OK("CreateQueue", object{"QueueName": "a"}, object{"QueueUrl": c.URL("a")})
		c.OK("CreateQueue", object{"QueueName": "a", "Attributes": object{}, "tags": object{}}, object{
			"QueueUrl": c.URL("a"),
		})
		c.OK("CreateQueue", object{"QueueName": "a", "Attributes": object{"DelaySeconds": "5"}}, object{
			"QueueUrl": c.URL("a"),
		})
		c.OK("SetQueueAttributes", object{"QueueUrl": c.URL("a"), "Attributes": object{"DelaySeconds": "6"}}, object{})
		c.OK("CreateQueue",
			object{"QueueName": "a", "Attributes": object{"DelaySeconds": "6", "MaximumMessageSize": "1048576"}},
			object{"QueueUrl": c.URL("a")})
		c.Fails("CreateQueue", object{"QueueName": "a", "Attributes": object{"DelaySeconds": "5"}},
			modelled("QueueNameExists", "QueueAlreadyExists", 400,
				"A queue already exists with the same name and a different value for attribute DelaySeconds"))

		c.OK("GetQueueUrl", object{"QueueName": "a"}, object{"QueueUrl": c.URL("a")})
		c.OK("GetQueueUrl", object{"QueueName": "a", "QueueOwnerAWSAccountId": account}, object{"QueueUrl": c.URL("a")})

		c.OK("ListQueues", nil, object{
			"QueueUrls": list{c.URL(strings.Repeat("Y_", 40)), c.URL("a"), c.URL("b"), c.URL(longest)},
		})
		c.OK("ListQueues", object{"QueueNamePrefix": "a"}, object{"QueueUrls": list{c.URL("a")}})
		c.OK("ListQueues", object{"QueueNamePrefix": "A"}, object{})
		c.OK("ListQueues", object{"MaxResults": 4}, object{"QueueUrls": list{anything, anything, anything, anything}})
		var found list
		token := ""
		for range 2 {
			in := object{"MaxResults": 2}
			if token != "" {
				in["NextToken"] = token
			}
			page := c.Make("ListQueues", in)
			found = append(found, page["QueueUrls"].(list)...)
			token, _ = page["NextToken"].(string)
		}
		if len(found) != 4 || token != "" {
			t.Errorf("two pages have %v, and then %q", found, token)
		}

		c.OK("DeleteQueue", object{"QueueUrl": c.URL("b")}, object{})
		c.Fails("DeleteQueue", object{"QueueUrl": c.URL("b")}, noQueue)
		c.OK("ListQueues", object{"QueueNamePrefix": "b"}, object{})
	})
}

// standardAttributes are the attributes of a queue that sets none.
func standardAttributes(c *client, name string) object {
	return object{
		"ApproximateNumberOfMessages": 0, "ApproximateNumberOfMessagesDelayed": 0,
		"ApproximateNumberOfMessagesNotVisible": 0,
		"CreatedTimestamp":                      regexp.MustCompile(`^[0-9]{10}$`),
		"LastModifiedTimestamp":                 regexp.MustCompile(`^[0-9]{10}$`),
		"DelaySeconds":                          0, "MaximumMessageSize": 1048576, "MessageRetentionPeriod": 345600,
		"QueueArn":                      c.ARN(name),
		"ReceiveMessageWaitTimeSeconds": 0, "SqsManagedSseEnabled": true, "VisibilityTimeout": 30,
	}
}

func TestAttributeShapes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		standard := standardAttributes(c, "q")
		c.Make("CreateQueue", object{"QueueName": "q"})
		get := func(queue string, names list, want object) {
			t.Helper()
			in := object{"QueueUrl": c.URL(queue), "AttributeNames": names}
			if names == nil {
				delete(in, "AttributeNames")
			}
			result := object{}
			if want != nil {
				result["Attributes"] = want
			}
			c.OK("GetQueueAttributes", in, result)
		}
		set := func(queue string, attributes object) {
			t.Helper()
			c.OK("SetQueueAttributes", object{"QueueUrl": c.URL(queue), "Attributes": attributes}, object{})
		}
		get("q", nil, nil)
		get("q", list{}, nil)
		get("q", list{"All"}, standard)
		get("q", list{"VisibilityTimeout", "QueueArn"}, object{"VisibilityTimeout": 30, "QueueArn": c.ARN("q")})
		get("q", list{"DelaySeconds", "DelaySeconds"}, object{"DelaySeconds": 0})
		get("q", list{"All", "DelaySeconds"}, standard)
		// An attribute that the queue lacks is missing from the answer, without an error.
		get("q",
			list{"Policy", "RedrivePolicy", "RedriveAllowPolicy", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds",
				"FifoQueue",
				"ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit"}, nil)

		c.Make("CreateQueue", object{"QueueName": "q.fifo", "Attributes": object{"FifoQueue": "True"}})
		fifo := standardAttributes(c, "q.fifo")
		fifo["FifoQueue"], fifo["ContentBasedDeduplication"] = true, false
		fifo["DeduplicationScope"], fifo["FifoThroughputLimit"] = "queue", "perQueue"
		get("q.fifo", list{"All"}, fifo)
		high := object{
			"ContentBasedDeduplication": "TRUE", "DeduplicationScope": "messageGroup",
			"FifoThroughputLimit": "perMessageGroupId", "FifoQueue": "true",
		}
		set("q.fifo", high)
		high["ContentBasedDeduplication"] = true
		get("q.fifo", list{"ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit", "FifoQueue"}, high)

		// Every number, at both of its limits.
		for _, numbers := range []object{
			{"DelaySeconds": 0, "MaximumMessageSize": 1024, "MessageRetentionPeriod": 60,
				"ReceiveMessageWaitTimeSeconds": 0, "VisibilityTimeout": 0},
			{"DelaySeconds": 900, "MaximumMessageSize": 1048576, "MessageRetentionPeriod": 1209600,
				"ReceiveMessageWaitTimeSeconds": 20, "VisibilityTimeout": 43200},
		} {
			values, names := object{}, list{}
			for name, n := range numbers {
				values[name] = fmt.Sprint(n)
				names = append(names, name)
			}
			set("q", values)
			get("q", names, numbers)
		}

		// Policies are returned as they were written, or in SQS's own spelling.
		policy := `{ "Statement" : [ {"Sid":"x", "Effect":"Allow","Principal":"*","Action":"SQS:SendMessage","Resource":"*","Condition":{"StringEquals":{"aws:UserAgent":"<&>é"}}} ] }`
		set("q", object{"Policy": policy})
		get("q", list{"Policy"}, object{"Policy": policy})
		set("q", object{"Policy": ""})
		get("q", list{"Policy"}, nil)
		c.Make("CreateQueue", object{"QueueName": "dlq"})
		for _, in := range []string{
			redrive(c.ARN("dlq"), 5), redrive(c.ARN("dlq"), `"5"`),
			`{ "maxReceiveCount": 5 , "deadLetterTargetArn" : "` + c.ARN("dlq") + `" }`,
		} {
			set("q", object{"RedrivePolicy": in})
			get("q", list{"RedrivePolicy"}, object{"RedrivePolicy": redrive(c.ARN("dlq"), 5)})
			set("q", object{"RedrivePolicy": ""})
			get("q", list{"RedrivePolicy"}, nil)
		}
		set("q", object{"RedrivePolicy": redrive(c.ARN("q"), 1000)}) // to itself
		get("q", list{"RedrivePolicy"}, object{"RedrivePolicy": redrive(c.ARN("q"), 1000)})
		for _, allow := range []string{
			`{"redrivePermission":"allowAll"}`, `{"redrivePermission":"denyAll"}`,
			`{"redrivePermission":"byQueue","sourceQueueArns":["` + c.ARN("q") + `"]}`,
		} {
			set("dlq", object{"RedriveAllowPolicy": strings.ReplaceAll(allow, ":\"", ": \"")})
			get("dlq", list{"RedriveAllowPolicy"}, object{"RedriveAllowPolicy": allow})
		}
		set("q", object{"RedrivePolicy": redrive(c.ARN("dlq"), 1)}) // which is what the last one allows
		set("dlq", object{"RedriveAllowPolicy": ""})
		get("dlq", list{"RedriveAllowPolicy"}, nil)

		// Encryption by a customer's key excludes SQS's.
		set("q", object{"KmsMasterKeyId": "testKeyId", "KmsDataKeyReusePeriodSeconds": "6000"})
		names := list{"KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled"}
		get("q", names, object{
			"KmsMasterKeyId": "testKeyId", "KmsDataKeyReusePeriodSeconds": 6000, "SqsManagedSseEnabled": false,
		})
		// Without a key there is no reuse period, neither now nor when there is a key again.
		set("q", object{"KmsMasterKeyId": ""})
		get("q", names, object{"SqsManagedSseEnabled": false})
		set("q", object{"KmsDataKeyReusePeriodSeconds": "7000"})
		get("q", names, object{"SqsManagedSseEnabled": false})
		set("q", object{"KmsMasterKeyId": strings.Repeat("k", 2048)})
		get("q", names, object{
			"KmsMasterKeyId": strings.Repeat("k", 2048), "KmsDataKeyReusePeriodSeconds": 300,
			"SqsManagedSseEnabled": false,
		})
		set("q", object{"KmsMasterKeyId": ""})
		set("q", object{"SqsManagedSseEnabled": "True"})
		get("q", names, object{"SqsManagedSseEnabled": true})
		c.Make("CreateQueue", object{"QueueName": "kms", "Attributes": object{"KmsMasterKeyId": "k"}})
		get("kms", names, object{
			"KmsMasterKeyId": "k", "KmsDataKeyReusePeriodSeconds": 300, "SqsManagedSseEnabled": false,
		})
	})
}

var sent = regexp.MustCompile(`^1[0-9]{12}$`) // milliseconds

func TestMessageShapes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q"})
		u := c.URL("q")
		c.OK("ReceiveMessage", object{"QueueUrl": u}, object{})
		c.OK("SendMessage", object{"QueueUrl": u, "MessageBody": "This is a test message"}, // V6
			object{"MessageId": uuidPattern, "MD5OfMessageBody": "fafb00f5732ab283681e124bf8747ed1"})
		// Only the requested attributes.
		m := c.OK("ReceiveMessage", object{"QueueUrl": u, "VisibilityTimeout": 0}, object{"Messages": list{object{
			"MessageId": uuidPattern, "ReceiptHandle": handles, "MD5OfBody": "fafb00f5732ab283681e124bf8747ed1",
			"Body": "This is a test message",
		}}})["Messages"].(list)[0].(object)

		all := object{
			"SenderId": account, "SentTimestamp": sent, "ApproximateReceiveCount": 2,
			"ApproximateFirstReceiveTimestamp": sent,
		}
		receive := func(in object, attributes object) object {
			t.Helper()
			in["QueueUrl"] = u
			want := object{
				"MessageId": m["MessageId"], "ReceiptHandle": handles, "MD5OfBody": m["MD5OfBody"], "Body": m["Body"],
			}
			if attributes != nil {
				want["Attributes"] = attributes
			}
			in["VisibilityTimeout"] = 0
			return c.OK("ReceiveMessage", in, object{"Messages": list{want}})["Messages"].(list)[0].(object)
		}
		receive(object{"AttributeNames": list{"All"}}, all)
		all["ApproximateReceiveCount"] = 3
		again := receive(object{"MessageSystemAttributeNames": list{"All"}}, all)
		if again["ReceiptHandle"] == m["ReceiptHandle"] {
			t.Error("two receives returned the same handle")
		}
		all["ApproximateReceiveCount"] = 4
		receive(object{"AttributeNames": list{"All"}, "MessageSystemAttributeNames": list{"SenderId"}}, all)
		receive(object{
			"AttributeNames": list{"SenderId"}, "MessageSystemAttributeNames": list{"ApproximateReceiveCount"},
		},
			object{"SenderId": account, "ApproximateReceiveCount": 5})
		receive(object{
			"AttributeNames": list{"SequenceNumber", "MessageGroupId", "AWSTraceHeader", "SqsManagedSseEnabled"},
		}, nil)
		receive(object{
			"AttributeNames": list{}, "MessageAttributeNames": list{"All", "no such", "!!"}, "WaitTimeSeconds": 0,
		}, nil)

		// The first handle is as valid as the last.
		c.OK("ChangeMessageVisibility",
			object{"QueueUrl": u, "ReceiptHandle": m["ReceiptHandle"], "VisibilityTimeout": 0}, object{})
		c.OK("DeleteMessage", object{"QueueUrl": u, "ReceiptHandle": m["ReceiptHandle"]}, object{})
		c.OK("DeleteMessage", object{"QueueUrl": u, "ReceiptHandle": again["ReceiptHandle"]}, object{})
		c.OK("ReceiveMessage", object{"QueueUrl": u}, object{})

		c.OK("SendMessage", object{"QueueUrl": u, "MessageBody": "x", "MessageGroupId": "tenant!", "DelaySeconds": 0},
			object{
				"MessageId": uuidPattern, "MD5OfMessageBody": "9dd4e461268c8034f5c8564e155c67a6",
			})
		c.OK("ReceiveMessage", object{"QueueUrl": u, "AttributeNames": list{"MessageGroupId", "SequenceNumber"}},
			object{"Messages": list{object{
				"MessageId": uuidPattern, "ReceiptHandle": handles, "MD5OfBody": "9dd4e461268c8034f5c8564e155c67a6",
				"Body":       "x",
				"Attributes": object{"MessageGroupId": "tenant!"},
			}}})
	})
}

func TestFIFOShapes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{
			"QueueName": "q.fifo", "Attributes": object{"FifoQueue": "true", "ContentBasedDeduplication": "true"},
		})
		u := c.URL("q.fifo")
		in := object{"QueueUrl": u, "MessageBody": "same", "MessageGroupId": "g", "DelaySeconds": 0}
		first := c.OK("SendMessage", in, object{
			"MessageId": uuidPattern, "MD5OfMessageBody": "51037a4a37730f52c8732586d3aaa316",
			"SequenceNumber": sequences,
		})
		c.OK("SendMessage", in, first) // a duplicate
		sha := "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5"
		in["MessageDeduplicationId"] = sha
		c.OK("SendMessage", in, first) // and so is this
		in["MessageDeduplicationId"] = strings.Repeat("!", 128)
		second := c.Make("SendMessage", in)
		if second["SequenceNumber"].(string) <= first["SequenceNumber"].(string) {
			t.Errorf("sequence numbers %v and %v do not grow", first, second)
		}
		receive := object{
			"QueueUrl": u, "AttributeNames": list{"All"}, "MaxNumberOfMessages": 10, "ReceiveRequestAttemptId": "a",
		}
		message := func(sequence, dedup any) object {
			return object{
				"MessageId": uuidPattern, "ReceiptHandle": handles, "MD5OfBody": "51037a4a37730f52c8732586d3aaa316",
				"Body": "same",
				"Attributes": object{
					"SenderId": account, "SentTimestamp": sent, "ApproximateReceiveCount": 1,
					"ApproximateFirstReceiveTimestamp": sent,
					"SequenceNumber":                   sequence, "MessageGroupId": "g",
					"MessageDeduplicationId": dedup,
				},
			}
		}
		got := c.OK("ReceiveMessage", receive, object{"Messages": list{
			message(first["SequenceNumber"], sha), message(second["SequenceNumber"], strings.Repeat("!", 128)),
		}})
		if again := c.Make("ReceiveMessage", receive); !reflect.DeepEqual(got, again) {
			t.Errorf("the same attempt has got %v, and then %v", got, again)
		}
		c.Make("DeleteMessage", object{
			"QueueUrl": u, "ReceiptHandle": got["Messages"].(list)[0].(object)["ReceiptHandle"],
		})
		c.Fails("ReceiveMessage", receive,
			invalid("Value a for parameter ReceiveRequestAttemptId is invalid. Reason: The receiveRequestAttemptId is not valid anymore since the receive call is not retryable."))
	})
}

// The digests are those that clients compute.
func TestDigests(t *testing.T) {
	t.Parallel()
	binary := func(dataType string, b ...byte) object {
		return object{"DataType": dataType, "BinaryValue": base64.StdEncoding.EncodeToString(b)}
	}
	trace := "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q"})
		u := c.URL("q")
		for _, v := range []struct {
			attributes object
			md5        string
		}{
			// V1
			{object{"color": text("blue"), "count": number("3"), "blob": binary("Binary", 1, 2, 3)},
				"d838729972a4b70e2d2acd9d59ac847c"},
			// V2
			{object{"color": text("blue")}, "da1b33cc3cbfe8b1630921e78e6b9880"},
			// V4
			{object{"MyAttribute": text("foobar")}, "adb59cd4678ea5a855436b949cd07ab6"},
			// V5
			{object{"B": text("2"), "a": text("1"), "_": number("0"), "Z.z": binary("Binary.gif", 0, 255)},
				"2e6258c99973e6584ea19ae2b11b6f0c"},
			{object{"timestamp": number("1493147359900")}, "235c5c510d26fb653d073faed50ae77c"},
			{object{"k": text("x")}, "a45daa70926828a2f0a1db3418e6feb4"},
			{object{"Foo": text("Bar")}, "ae7155c6026991b6d54b11589678bf9c"},
			{object{
				"attr1": binary("Binary",
					[]byte("traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01")...),
			},
				"8cbe4db156db8a94db8b801b7addb984"},
			{object{
				"test_attribute_name_1": text("test_attribute_value_1"),
				"test_attribute_name_2": text("test_attribute_value_2"),
			},
				"d53f3b558fe951154770f25cb63dbba9"},
		} {
			send := object{"QueueUrl": u, "MessageBody": "m", "MessageAttributes": v.attributes}
			c.OK("SendMessage", send, object{
				"MessageId": uuidPattern, "MD5OfMessageBody": anything, "MD5OfMessageAttributes": v.md5,
			})
			m := c.Make("ReceiveMessage", object{
				"QueueUrl": u, "MessageAttributeNames": list{"All"},
			})["Messages"].(list)[0].(object)
			c.Make("DeleteMessage", object{"QueueUrl": u, "ReceiptHandle": m["ReceiptHandle"]})
			delete(m, "ReceiptHandle")
			err := apitest.Match(object{
				"MessageId": uuidPattern, "MD5OfBody": anything, "Body": "m", "MD5OfMessageAttributes": v.md5,
				"MessageAttributes": v.attributes,
			}, m)
			if err != nil {
				t.Error(err)
			}
		}

		// V3: system attributes have their own digest, which a receive does not show, and are not part of the other.
		c.OK("SendMessage",
			object{"QueueUrl": u, "MessageBody": "m", "MessageSystemAttributes": object{"AWSTraceHeader": text(trace)},
				"MessageAttributes": object{"color": text("blue")}}, object{
				"MessageId": uuidPattern, "MD5OfMessageBody": anything,
				"MD5OfMessageAttributes":       "da1b33cc3cbfe8b1630921e78e6b9880",
				"MD5OfMessageSystemAttributes": "5ae4d5d7636402d80f4eb6d213245a88",
			})
		m := c.Make("ReceiveMessage", object{
			"QueueUrl": u, "MessageSystemAttributeNames": list{"AWSTraceHeader"},
		})["Messages"].(list)[0].(object)
		if err := apitest.Match(object{"MessageId": uuidPattern, "MD5OfBody": anything, "Body": "m",
			"ReceiptHandle": handles,
			"Attributes":    object{"AWSTraceHeader": trace}}, m); err != nil {
			t.Error(err)
		}
		c.Make("DeleteMessage", object{"QueueUrl": u, "ReceiptHandle": m["ReceiptHandle"]})

		// Without attributes there is no digest, not even that of an empty list.
		c.OK("SendMessage",
			object{
				"QueueUrl": u, "MessageBody": "m", "MessageAttributes": object{}, "MessageSystemAttributes": object{},
			},
			object{"MessageId": uuidPattern, "MD5OfMessageBody": anything})
		c.Make("PurgeQueue", object{"QueueUrl": u})

		for body, md5 := range map[string]string{
			"héllo ✓ 😀":           "537f5718566dd425639556ce037d44ff", // V7
			"test message body 1": "0e024d309850c78cba5eabbeff7cae71", // V8
			"test message body 2": "7fb8146a82f95e0af155278f406862c2",
		} {
			c.OK("SendMessage", object{"QueueUrl": u, "MessageBody": body}, object{
				"MessageId": uuidPattern, "MD5OfMessageBody": md5,
			})
		}
	})
}

// The trace header of the request applies to the message, unless the message has its own.
func TestTraceHeader(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q"})
		send := func(header string, in object) {
			r := c.Request("SendMessage", in)
			r.Header.Set("X-Amzn-Trace-Id", header)
			c.Sign(r)
			if a := c.Send("SendMessage", r); a.Status != 200 {
				t.Fatalf("%s", a.Body)
			}
		}
		const ofRequest = "Root=1-of-the-request"
		longest := strings.Repeat("t", 1024)
		send(ofRequest, object{"QueueUrl": c.URL("q"), "MessageBody": "a"})
		send(ofRequest, object{
			"QueueUrl": c.URL("q"), "MessageBody": "b",
			"MessageSystemAttributes": object{"AWSTraceHeader": text("Root=1-of-the-message")},
		})
		send(longest, object{"QueueUrl": c.URL("q"), "MessageBody": "c"})
		send(longest+"t", object{"QueueUrl": c.URL("q"), "MessageBody": "d"}) // which is not a trace header
		send(ofRequest, object{
			"QueueUrl": c.URL("q"), "MessageBody": "e",
			"MessageSystemAttributes": object{"AWSTraceHeader": text(longest)},
		})
		for _, want := range []any{ofRequest, "Root=1-of-the-message", longest, nil, longest} {
			m := c.Make("ReceiveMessage", object{
				"QueueUrl": c.URL("q"), "AttributeNames": list{"AWSTraceHeader"},
			})["Messages"].(list)[0].(object)
			attributes, _ := m["Attributes"].(object)
			if got := attributes["AWSTraceHeader"]; got != want {
				t.Errorf("the trace header of message %s is %v, want %v", m["Body"], got, want)
			}
		}
	})
}

// Attributes are selected by name, and the digest covers the selected ones.
func TestChosenAttributes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q"})
		attributes := object{
			"Hello": text("1"), "Help.Me": text("2"), "bar.x": text("3"), "attr.1øßä": text("4"), "hel": text("5"),
		}
		c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m", "MessageAttributes": attributes})
		var whole any
		for _, tc := range []struct{ names, want list }{
			{list{"All"}, list{"Hello", "Help.Me", "bar.x", "attr.1øßä", "hel"}},
			{list{".*"}, list{"Hello", "Help.Me", "bar.x", "attr.1øßä", "hel"}},
			{list{"*"}, list{"Hello", "Help.Me", "bar.x", "attr.1øßä", "hel"}},
			{list{"bar.*"}, list{"bar.x"}},
			{list{"Hel.*"}, list{"Hello", "Help.Me"}},
			{list{"Help.*", "bar.*"}, list{"Help.Me", "bar.x"}},
			{list{"Hello", "nobody"}, list{"Hello"}},
			{list{"hello", "Hel*", "Hel", "**", "$%&", ""}, nil},
			{list{}, nil},
		} {
			m := c.Make("ReceiveMessage", object{
				"QueueUrl": c.URL("q"), "MessageAttributeNames": tc.names, "VisibilityTimeout": 0,
			})["Messages"].(list)[0].(object)
			got, _ := m["MessageAttributes"].(object)
			var names list
			for name := range got {
				names = append(names, name)
			}
			for _, l := range []list{names, tc.want} {
				slices.SortFunc(l, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
			}
			if !reflect.DeepEqual(names, tc.want) {
				t.Errorf("%v gives %v, want %v", tc.names, names, tc.want)
			}
			if whole == nil {
				whole = m["MD5OfMessageAttributes"]
			}
			_, hasDigest := m["MD5OfMessageAttributes"]
			if hasDigest != (len(got) > 0) || (m["MD5OfMessageAttributes"] == whole) != (len(got) == len(attributes)) {
				t.Errorf("%v: MD5OfMessageAttributes is %v of %v", tc.names, m["MD5OfMessageAttributes"], names)
			}
		}
	})
}

// Bodies are returned byte for byte.
func TestBodies(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q", "Attributes": object{"MaximumMessageSize": "1024"}})
		for _, body := range []string{
			" ", "\r\n", "\r", "\n \t", " lead and trail ", "<a>&amp;\"'</a>", "]]>", "a+b%20c=d&e;f", `\u0000\n"`,
			"\x7f", "\u0085\u00a0\u2028\ufeff",
			"é", "e\u0301", "\ud7ff\ue000\ufffd\U00010000\U0010ffff", "😀", strings.Repeat("x", 1024),
			strings.Repeat("é", 512),
			`{"json":["text"]}`, "\u007f\u0080\u009f",
		} {
			c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": body})
			m := c.Make("ReceiveMessage", object{"QueueUrl": c.URL("q")})["Messages"].(list)[0].(object)
			if m["Body"] != body {
				t.Errorf("%q is returned as %q", body, m["Body"])
			}
			c.Make("DeleteMessage", object{"QueueUrl": c.URL("q"), "ReceiptHandle": m["ReceiptHandle"]})
		}
		// Body and attributes count together towards the limit of a message.
		c.Make("SendMessage",
			object{"QueueUrl": c.URL("q"), "MessageBody": strings.Repeat("x", 1016),
				"MessageAttributes":       object{"a": text("b")},
				"MessageSystemAttributes": object{"AWSTraceHeader": text("does not count")},
				"MessageGroupId":          "nor-does-this"})
		// a, Binary
		binary := object{"DataType": "Binary", "BinaryValue": base64.StdEncoding.EncodeToString(make([]byte, 1016))}
		c.Make("SendMessage", object{
			"QueueUrl": c.URL("q"), "MessageBody": "x", "MessageAttributes": object{"a": binary},
		})
	})
}

func TestNumberAttributes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q"})
		attributes := object{}
		for i, n := range []string{"0", "-0", "000123456", "1.50", "+1", "-1E126", "1e-128", ".5",
			strings.Repeat("9", 38) + "000"} {
			attributes[fmt.Sprint("n", i)] = object{"DataType": "Number.my label ✓", "StringValue": n}
		}
		attributes[strings.Repeat("x", 256)] = object{
			"DataType": "String." + strings.Repeat("x", 249), "StringValue": "x",
		}
		c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m", "MessageAttributes": attributes})
		m := c.Make("ReceiveMessage", object{
			"QueueUrl": c.URL("q"), "MessageAttributeNames": list{"All"},
		})["Messages"].(list)[0].(object)
		if err := apitest.Match(attributes, m["MessageAttributes"]); err != nil {
			t.Error(err)
		}
	})
}

func TestBatchShapes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q", "Attributes": object{"MaximumMessageSize": "1024"}})
		u := c.URL("q")
		entries := list{
			object{"Id": "last", "MessageBody": "test message body 1"},
			object{"Id": "a-1", "MessageBody": "test message body 2", "DelaySeconds": 60,
				"MessageAttributes":       object{"color": text("blue")},
				"MessageSystemAttributes": object{"AWSTraceHeader": text("Root=1")}, "MessageGroupId": "g"},
			object{"Id": "empty", "MessageBody": ""},
			object{"Id": "long", "MessageBody": strings.Repeat("x", 1025)},
			object{"Id": "characters", "MessageBody": "\x00"},
			object{"Id": "dedup", "MessageBody": "m", "MessageDeduplicationId": "d"},
			object{"Id": "delay", "MessageBody": "m", "DelaySeconds": 901},
			object{"Id": "attribute", "MessageBody": "m", "MessageAttributes": object{"a!": text("x")}},
			object{
				"Id": "lists", "MessageBody": "m",
				"MessageAttributes": object{"a": object{"DataType": "String", "StringListValues": list{"x"}}},
			},
			object{"Id": strings.Repeat("_", 80), "MessageBody": "test message body 1"},
		}
		failed := func(id, code string, message any) object {
			return object{"Id": id, "SenderFault": true, "Code": code, "Message": message}
		}
		c.OK("SendMessageBatch", object{"QueueUrl": u, "Entries": entries}, object{
			"Successful": list{
				object{"Id": "last", "MessageId": uuidPattern, "MD5OfMessageBody": "0e024d309850c78cba5eabbeff7cae71"},
				object{"Id": "a-1", "MessageId": uuidPattern, "MD5OfMessageBody": "7fb8146a82f95e0af155278f406862c2",
					"MD5OfMessageAttributes":       "da1b33cc3cbfe8b1630921e78e6b9880",
					"MD5OfMessageSystemAttributes": anything},
				object{
					"Id": strings.Repeat("_", 80), "MessageId": uuidPattern,
					"MD5OfMessageBody": "0e024d309850c78cba5eabbeff7cae71",
				},
			},
			"Failed": list{
				failed("empty", "EmptyValue", anything),
				failed("long", "InvalidParameterValue",
					"One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes."),
				failed("characters", "InvalidMessageContents", anything),
				failed("dedup", "InvalidParameterValue",
					"The request include parameter that is not valid for this queue type"),
				failed("delay", "InvalidParameterValue",
					"Value 901 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900."),
				failed("attribute", "InvalidParameterValue", anything),
				failed("lists", "AWS.SimpleQueueService.UnsupportedOperation", anything),
			},
		})
		c.OK("SendMessageBatch", object{"QueueUrl": u, "Entries": list{object{"Id": "a", "MessageBody": "m"}}}, object{
			"Successful": list{object{"Id": "a", "MessageId": uuidPattern, "MD5OfMessageBody": anything}},
		})
		c.OK("SendMessageBatch", object{"QueueUrl": u, "Entries": list{object{"Id": "a", "MessageBody": ""}}}, object{
			"Failed": list{failed("a", "EmptyValue", anything)},
		})

		var got []any
		for _, m := range c.Make("ReceiveMessage", object{
			"QueueUrl": u, "MaxNumberOfMessages": 10,
		})["Messages"].(list) {
			got = append(got, m.(object)["ReceiptHandle"])
		}
		if len(got) != 3 {
			t.Fatalf("%d messages have come, want 3", len(got))
		}
		badHandle := `The input receipt handle "garbage" is not a valid receipt handle.`
		c.OK("ChangeMessageVisibilityBatch", object{"QueueUrl": u, "Entries": list{
			object{"Id": "a", "ReceiptHandle": got[0], "VisibilityTimeout": 100},
			object{"Id": "b", "ReceiptHandle": "garbage", "VisibilityTimeout": 100},
			object{"Id": "c", "ReceiptHandle": got[1], "VisibilityTimeout": 43201},
			object{"Id": "d", "ReceiptHandle": got[1]},
			object{"Id": "e", "VisibilityTimeout": 1},
			object{"Id": "f", "ReceiptHandle": got[1], "VisibilityTimeout": 0},
		}}, object{
			"Successful": list{object{"Id": "a"}, object{"Id": "f"}},
			"Failed": list{
				failed("b", "ReceiptHandleIsInvalid", badHandle),
				failed("c", "InvalidParameterValue",
					"Value 43201 for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout must be an integer between 0 and 43200."),
				failed("d", "MissingParameter",
					"The request must contain the parameter ChangeMessageVisibilityBatchRequestEntry.4.VisibilityTimeout."),
				failed("e", "MissingParameter",
					"The request must contain the parameter ChangeMessageVisibilityBatchRequestEntry.5.ReceiptHandle."),
			},
		})
		c.OK("ChangeMessageVisibilityBatch",
			object{"QueueUrl": u, "Entries": list{object{"Id": "a", "ReceiptHandle": got[0], "VisibilityTimeout": 9}}},
			object{"Successful": list{object{"Id": "a"}}})
		c.OK("ChangeMessageVisibilityBatch",
			object{
				"QueueUrl": u, "Entries": list{object{"Id": "a", "ReceiptHandle": "garbage", "VisibilityTimeout": 9}},
			},
			object{"Failed": list{failed("a", "ReceiptHandleIsInvalid", badHandle)}})
		c.OK("DeleteMessageBatch", object{"QueueUrl": u, "Entries": list{
			object{"Id": "a", "ReceiptHandle": got[0]}, object{"Id": "b", "ReceiptHandle": "garbage"},
			object{"Id": "c", "ReceiptHandle": got[0]},
			object{"Id": "d"},
		}}, object{
			"Successful": list{object{"Id": "a"}, object{"Id": "c"}},
			"Failed": list{
				failed("b", "ReceiptHandleIsInvalid", badHandle),
				failed("d", "MissingParameter",
					"The request must contain the parameter DeleteMessageBatchRequestEntry.4.ReceiptHandle."),
			},
		})
		c.OK("ChangeMessageVisibilityBatch", object{"QueueUrl": u, "Entries": list{
			object{"Id": "deleted", "ReceiptHandle": got[0], "VisibilityTimeout": 9},
			object{"Id": "there", "ReceiptHandle": got[2], "VisibilityTimeout": 9},
		}}, object{
			"Successful": list{object{"Id": "there"}},
			"Failed": list{failed("deleted", "ReceiptHandleIsInvalid",
				"Message does not exist or is not available for visibility timeout change.")},
		})
		c.OK("DeleteMessageBatch", object{"QueueUrl": u, "Entries": list{object{"Id": "a", "ReceiptHandle": got[1]}}},
			object{"Successful": list{object{"Id": "a"}}})
		// Ten of them, of the largest allowed size.
		c.Make("CreateQueue", object{"QueueName": "large"})
		var ten list
		for i := range 10 {
			ten = append(ten, object{"Id": fmt.Sprint(i), "MessageBody": strings.Repeat("x", 104_857)})
		}
		ten[0].(object)["MessageBody"] = strings.Repeat("x", 104_863) // 1,048,576 in all
		if n := len(c.Make("SendMessageBatch", object{
			"QueueUrl": c.URL("large"), "Entries": ten,
		})["Successful"].(list)); n != 10 {
			t.Errorf("%d of ten have been sent", n)
		}

		c.Make("CreateQueue", object{"QueueName": "q.fifo", "Attributes": object{"FifoQueue": "true"}})
		fifo := func(id, dedup string) object {
			return object{"Id": id, "MessageBody": "m", "MessageGroupId": "g", "MessageDeduplicationId": dedup}
		}
		result := object{
			"Id": anything, "MessageId": uuidPattern, "MD5OfMessageBody": anything, "SequenceNumber": sequences,
		}
		sent := c.OK("SendMessageBatch",
			object{"QueueUrl": c.URL("q.fifo"), "Entries": list{fifo("a", "1"), fifo("b", "2"), fifo("c", "1")}},
			object{"Successful": list{result, result, result}})["Successful"].(list)
		late := c.Make("ReceiveMessage", object{
			"QueueUrl": c.URL("q.fifo"), "VisibilityTimeout": 0,
		})["Messages"].(list)[0].(object)["ReceiptHandle"]
		expired := object{"Failed": list{failed("a", "InvalidParameterValue",
			fmt.Sprintf("Value %s for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.",
				late))}}
		c.OK("DeleteMessageBatch",
			object{"QueueUrl": c.URL("q.fifo"), "Entries": list{object{"Id": "a", "ReceiptHandle": late}}}, expired)
		c.OK("ChangeMessageVisibilityBatch",
			object{
				"QueueUrl": c.URL("q.fifo"),
				"Entries":  list{object{"Id": "a", "ReceiptHandle": late, "VisibilityTimeout": 1}},
			}, expired)
		if a, c := sent[0].(object),
			sent[2].(object); a["MessageId"] != c["MessageId"] || a["SequenceNumber"] != c["SequenceNumber"] {
			t.Errorf("a duplicate within a batch is answered with %v, the original with %v", c, a)
		}
	})
}

func TestTagShapes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q"})
		u := c.URL("q")
		tags := func(want object) {
			t.Helper()
			result := object{}
			if want != nil {
				result["Tags"] = want
			}
			c.OK("ListQueueTags", object{"QueueUrl": u}, result)
		}
		tags(nil)
		c.OK("TagQueue", object{"QueueUrl": u, "Tags": object{"a": "1", "A": "", "k e:y/=+-@_.é": "v"}}, object{})
		tags(object{"a": "1", "A": "", "k e:y/=+-@_.é": "v"})
		c.OK("TagQueue",
			object{"QueueUrl": u, "Tags": object{"a": "2", strings.Repeat("é", 128): strings.Repeat("é", 256)}},
			object{})
		tags(object{"a": "2", "A": "", "k e:y/=+-@_.é": "v", strings.Repeat("é", 128): strings.Repeat("é", 256)})
		c.OK("UntagQueue",
			object{"QueueUrl": u, "TagKeys": list{"nobody", "a", strings.Repeat("é", 128), "k e:y/=+-@_.é"}}, object{})
		tags(object{"A": ""})
		c.OK("UntagQueue", object{"QueueUrl": u, "TagKeys": list{"A"}}, object{})
		tags(nil)
		c.Make("CreateQueue", object{"QueueName": "tagged", "tags": object{"x": "y"}})
		c.OK("ListQueueTags", object{"QueueUrl": c.URL("tagged")}, object{"Tags": object{"x": "y"}})
		c.OK("CreateQueue", object{"QueueName": "tagged", "tags": object{"x": "y"}}, object{
			"QueueUrl": c.URL("tagged"),
		})
		c.OK("CreateQueue", object{"QueueName": "tagged"}, object{"QueueUrl": c.URL("tagged")})
	})
}

func TestPermissionShapes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q"})
		u, arn := c.URL("q"), c.ARN("q")
		policy := func(want string) {
			t.Helper()
			result := object{}
			if want != "" {
				result["Attributes"] = object{"Policy": want}
			}
			c.OK("GetQueueAttributes", object{"QueueUrl": u, "AttributeNames": list{"Policy"}}, result)
		}
		c.OK("AddPermission",
			object{
				"QueueUrl": u, "Label": "one", "AWSAccountIds": list{otherAccount}, "Actions": list{"ReceiveMessage"},
			}, object{})
		one := `{"Sid":"one","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111111111111:root"},"Action":"SQS:ReceiveMessage","Resource":"` + arn + `"}`
		head := `{"Version":"2008-10-17","Id":"` + arn + `/SQSDefaultPolicy","Statement":[`
		policy(head + one + `]}`)
		c.OK("AddPermission",
			object{
				"QueueUrl": u, "Label": "two", "AWSAccountIds": list{account, otherAccount},
				"Actions": list{"SendMessage", "*"},
			}, object{})
		two := `{"Sid":"two","Effect":"Allow","Principal":{"AWS":["arn:aws:iam::000000000000:root","arn:aws:iam::111111111111:root"]},` +
			`"Action":["SQS:SendMessage","SQS:*"],"Resource":"` + arn + `"}`
		policy(head + one + `,` + two + `]}`)
		c.OK("RemovePermission", object{"QueueUrl": u, "Label": "one"}, object{})
		policy(head + two + `]}`)
		c.OK("RemovePermission", object{"QueueUrl": u, "Label": "two"}, object{})
		policy("")

		// AddPermission keeps the statements that a policy already has.
		theirs := `{"Sid":"a b","Effect":"Deny","Principal":"*","Action":"sqs:PurgeQueue","Resource":"*","Condition":{"StringEquals":{"aws:UserAgent":"<&>"}}}`
		c.Make("SetQueueAttributes", object{
			"QueueUrl": u, "Attributes": object{"Policy": `{"Version":"2012-10-17","Statement":` + theirs + `}`},
		})
		c.Make("AddPermission", object{
			"QueueUrl": u, "Label": "one", "AWSAccountIds": list{otherAccount}, "Actions": list{"ReceiveMessage"},
		})
		policy(`{"Version":"2012-10-17","Statement":[` + theirs + `,` + one + `]}`)
		c.Make("RemovePermission", object{"QueueUrl": u, "Label": "a b"})
		policy(`{"Version":"2012-10-17","Statement":[` + one + `]}`)
	})
}

func TestDeadLetterShapes(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "dlq"})
		c.OK("ListDeadLetterSourceQueues", object{"QueueUrl": c.URL("dlq")}, object{})
		for _, name := range []string{"a", "b", "c"} {
			c.Make("CreateQueue", object{
				"QueueName":  name,
				"Attributes": object{"RedrivePolicy": redrive(c.ARN("dlq"), 1), "VisibilityTimeout": "0"},
			})
		}
		c.OK("ListDeadLetterSourceQueues", object{"QueueUrl": c.URL("dlq")}, object{
			"queueUrls": list{c.URL("a"), c.URL("b"), c.URL("c")},
		})
		c.OK("ListDeadLetterSourceQueues", object{"QueueUrl": c.URL("dlq"), "MaxResults": 3}, object{
			"queueUrls": list{anything, anything, anything},
		})
		page := c.OK("ListDeadLetterSourceQueues", object{"QueueUrl": c.URL("dlq"), "MaxResults": 2},
			object{"queueUrls": list{c.URL("a"), c.URL("b")}, "NextToken": anything})
		c.OK("ListDeadLetterSourceQueues",
			object{"QueueUrl": c.URL("dlq"), "MaxResults": 2, "NextToken": page["NextToken"]},
			object{"queueUrls": list{c.URL("c")}})

		c.OK("ListMessageMoveTasks", object{"SourceArn": c.ARN("dlq")}, object{})
		var ten list
		for i := range 10 {
			ten = append(ten, object{
				"Id": fmt.Sprint(i), "MessageBody": "m", "MessageAttributes": object{"color": text("blue")},
			})
		}
		c.Make("SendMessageBatch", object{"QueueUrl": c.URL("a"), "Entries": ten})
		c.Make("ReceiveMessage", object{"QueueUrl": c.URL("a"), "MaxNumberOfMessages": 10})
		c.OK("ReceiveMessage", object{"QueueUrl": c.URL("a")}, object{}) // which moves them
		// The attempt that moved it does not count.
		c.OK("ReceiveMessage",
			object{
				"QueueUrl": c.URL("dlq"), "VisibilityTimeout": 0, "AttributeNames": list{"All"},
				"MessageAttributeNames": list{"All"},
			},
			object{"Messages": list{object{
				"MessageId": uuidPattern, "ReceiptHandle": handles, "MD5OfBody": anything, "Body": "m",
				"Attributes": object{
					"SenderId": account, "SentTimestamp": sent, "ApproximateReceiveCount": 2,
					"ApproximateFirstReceiveTimestamp": sent,
					"DeadLetterQueueSourceArn":         c.ARN("a"),
				},
				"MD5OfMessageAttributes": "da1b33cc3cbfe8b1630921e78e6b9880",
				"MessageAttributes":      object{"color": text("blue")},
			}}})

		// Its rate keeps the task running for ten seconds.
		handle := c.OK("StartMessageMoveTask", object{"SourceArn": c.ARN("dlq"), "MaxNumberOfMessagesPerSecond": 1},
			object{"TaskHandle": anything})["TaskHandle"]
		running := object{
			"TaskHandle": handle, "Status": "RUNNING", "SourceArn": c.ARN("dlq"), "MaxNumberOfMessagesPerSecond": 1,
			"ApproximateNumberOfMessagesMoved": decimal, "ApproximateNumberOfMessagesToMove": 10,
			"StartedTimestamp": sent,
		}
		c.OK("ListMessageMoveTasks", object{"SourceArn": c.ARN("dlq")}, object{"Results": list{running}})
		c.Fails("StartMessageMoveTask", object{"SourceArn": c.ARN("dlq")},
			invalid("There is already a task running. Only one active task is allowed for a source queue arn at a given time."))
		c.OK("CancelMessageMoveTask", object{"TaskHandle": handle}, object{"ApproximateNumberOfMessagesMoved": decimal})
		c.Fails("CancelMessageMoveTask", object{"TaskHandle": handle}, resourceNotFound("Task does not exist."))
		cancelled := object{
			"Status": "CANCELLED", "SourceArn": c.ARN("dlq"), "MaxNumberOfMessagesPerSecond": 1,
			"ApproximateNumberOfMessagesMoved": decimal, "ApproximateNumberOfMessagesToMove": 10,
			"StartedTimestamp": sent,
		}
		c.OK("ListMessageMoveTasks", object{"SourceArn": c.ARN("dlq")}, object{"Results": list{cancelled}})

		c.Make("StartMessageMoveTask", object{"SourceArn": c.ARN("dlq"), "DestinationArn": c.ARN("b")})
		completed := object{
			"Status": "COMPLETED", "SourceArn": c.ARN("dlq"), "DestinationArn": c.ARN("b"),
			"ApproximateNumberOfMessagesMoved": decimal, "ApproximateNumberOfMessagesToMove": decimal,
			"StartedTimestamp": sent,
		}
		eventually.Succeeds(t, func() error {
			return apitest.Match(object{"Results": list{completed, cancelled}},
				c.Make("ListMessageMoveTasks", object{"SourceArn": c.ARN("dlq"), "MaxResults": 10}))
		})
		c.OK("ListMessageMoveTasks", object{"SourceArn": c.ARN("dlq")}, object{"Results": list{completed}})
		c.OK("ReceiveMessage",
			object{
				"QueueUrl": c.URL("b"), "AttributeNames": list{"ApproximateReceiveCount", "DeadLetterQueueSourceArn"},
			}, object{"Messages": list{object{
				"MessageId": uuidOfMove, "ReceiptHandle": handles, "MD5OfBody": anything, "Body": "m",
				"Attributes": object{"ApproximateReceiveCount": 1},
			}}})
	})
}

var uuidOfMove = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

package sqs_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// refusalCase is a refused request, in every dialect.
type refusalCase struct {
	op   string
	in   object
	want refusal
}

// fixture is the state that the cases find in their region.
type fixture struct {
	handle  string // of a message of "q"
	gone    string // of a deleted message
	expired string // of a message of "f.fifo" that is visible again
}

func newFixture(c *client) fixture {
	c.T.Helper()
	c.Make("CreateQueue", object{"QueueName": "q", "Attributes": object{"MaximumMessageSize": "1024"}})
	c.Make("CreateQueue", object{"QueueName": "f.fifo", "Attributes": object{"FifoQueue": "true"}})
	c.Make("CreateQueue", object{
		"QueueName": "content.fifo", "Attributes": object{"FifoQueue": "True", "ContentBasedDeduplication": "TRUE"},
	})
	c.Make("CreateQueue", object{"QueueName": "dlq"})
	c.Make("CreateQueue", object{
		"QueueName": "source", "Attributes": object{"RedrivePolicy": redrive(c.ARN("dlq"), 1)},
	})
	c.Make("CreateQueue", object{
		"QueueName": "closed", "Attributes": object{"RedriveAllowPolicy": `{"redrivePermission":"denyAll"}`},
	})
	c.Make("CreateQueue", object{"QueueName": "choosy", "Attributes": object{
		"RedriveAllowPolicy": `{"redrivePermission":"byQueue","sourceQueueArns":["` + c.ARN("source") + `"]}`,
	}})
	c.Make("CreateQueue", object{"QueueName": "kms", "Attributes": object{"KmsMasterKeyId": "testKeyId"}})
	tags := object{}
	for i := range 50 {
		tags[fmt.Sprintf("key%d", i)] = "v"
	}
	c.Make("CreateQueue", object{"QueueName": "tagged", "tags": tags})
	var statements []string
	for i := range 20 {
		statements = append(statements,
			fmt.Sprintf(`{"Sid":"s%d","Effect":"Allow","Principal":"*","Action":"SQS:SendMessage","Resource":"*"}`, i))
	}
	c.Make("CreateQueue", object{
		"QueueName": "crowded", "Attributes": object{"Policy": `{"Statement":[` + strings.Join(statements, ",") + `]}`},
	})
	c.Make("AddPermission", object{
		"QueueUrl": c.URL("q"), "Label": "taken", "AWSAccountIds": list{otherAccount}, "Actions": list{"SendMessage"},
	})

	c.Make("CreateQueue", object{"QueueName": "deleted"})
	c.Make("DeleteQueue", object{"QueueUrl": c.URL("deleted")})
	c.Make("CreateQueue", object{"QueueName": "purged"})
	c.Make("PurgeQueue", object{"QueueUrl": c.URL("purged")})

	var f fixture
	receive := func(queue string, timeout int) string {
		r := c.Make("ReceiveMessage", object{"QueueUrl": c.URL(queue), "VisibilityTimeout": timeout})
		return r["Messages"].(list)[0].(object)["ReceiptHandle"].(string)
	}
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "to be deleted"})
	f.gone = receive("q", 1000)
	c.Make("DeleteMessage", object{"QueueUrl": c.URL("q"), "ReceiptHandle": f.gone})
	c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "to be kept"})
	f.handle = receive("q", 1000)
	c.Make("SendMessage", object{
		"QueueUrl": c.URL("f.fifo"), "MessageBody": "m", "MessageGroupId": "g", "MessageDeduplicationId": "d",
	})
	f.expired = receive("f.fifo", 0)
	time.Sleep(2 * time.Millisecond) // so that 43200 more seconds are too many
	return f
}

// Every invalid request gets SQS's answer, in all dialects, and changes nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		f := newFixture(c)
		before := dumpRegion(c)
		for _, group := range [][]refusalCase{
			createCases(c), queueCases(c), attributeCases(c), sendCases(c), messageAttributeCases(c),
			batchCases(c, f), receiveCases(c), receiptCases(c, f), permissionCases(c), tagCases(c), moveCases(c),
		} {
			for _, rc := range group {
				c.Fails(rc.op, rc.in, rc.want)
			}
		}
		if after := dumpRegion(c); !reflect.DeepEqual(before, after) {
			t.Errorf("the state has changed:\nbefore %v\nafter  %v", before, after)
		}
	})
}

const (
	badName     = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
	badFIFOName = "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length."
)

func createCases(c *client) (cases []refusalCase) {
	create := func(name any, attributes object, want refusal) {
		in := object{}
		if name != nil {
			in["QueueName"] = name
		}
		if attributes != nil {
			in["Attributes"] = attributes
		}
		cases = append(cases, refusalCase{"CreateQueue", in, want})
	}
	exists := func(what string) refusal {
		return modelled("QueueNameExists", "QueueAlreadyExists", 400,
			"A queue already exists with the same name and a different value for "+what)
	}

	create(nil, nil, invalid("Value for parameter QueueName is invalid. Reason: Must specify a queue name."))
	create("", nil, invalid("Queue name cannot be empty"))
	for _, name := range []string{"a b", "a.b", "a/b", "ä", "x.fifo", " q", "q\n", strings.Repeat("x", 81)} {
		create(name, nil, invalid(badName))
	}
	for _, name := range []string{"x", "x.FIFO", ".fifo", "a b.fifo", strings.Repeat("x", 76) + ".fifo"} {
		create(name, object{"FifoQueue": "true"}, invalid(badFIFOName))
	}
	create("x.fifo", object{"FifoQueue": "false"}, invalid(badName))
	create("x", object{"FifoQueue": "false"}, attributeName("Unknown Attribute FifoQueue."))
	create("x", object{"ContentBasedDeduplication": "true"},
		attributeName("Unknown Attribute ContentBasedDeduplication."))
	create("x", object{"DeduplicationScope": "queue"},
		attributeName("You can specify the DeduplicationScope only when FifoQueue is set to true."))
	create("x", object{"FifoThroughputLimit": "perQueue"},
		attributeName("You can specify the FifoThroughputLimit only when FifoQueue is set to true."))
	create("x", object{"Visibility": "1"}, attributeName("Unknown Attribute Visibility."))
	create("x", object{"visibilityTimeout": "1"}, attributeName("Unknown Attribute visibilityTimeout."))
	create("deleted", nil, modelled("QueueDeletedRecently", "AWS.SimpleQueueService.QueueDeletedRecently", 400,
		"You must wait 60 seconds after deleting a queue before you can create another with the same name."))

	create("q", object{"DelaySeconds": "1"}, exists("attribute DelaySeconds"))
	create("q", object{"MaximumMessageSize": "1024", "VisibilityTimeout": "31"}, exists("attribute VisibilityTimeout"))
	create("q", object{"VisibilityTimeout": "31", "DelaySeconds": "1"}, exists("attribute DelaySeconds"))
	create("f.fifo", object{"FifoQueue": "true", "ContentBasedDeduplication": "true"},
		exists("attribute ContentBasedDeduplication"))
	create("f.fifo", object{"FifoQueue": "true", "FifoThroughputLimit": "perMessageGroupId"},
		exists("attribute FifoThroughputLimit"))
	create("kms", object{"SqsManagedSseEnabled": "true"}, exists("attribute SqsManagedSseEnabled"))
	create("source", object{"RedrivePolicy": redrive(c.ARN("dlq"), 2)}, exists("attribute RedrivePolicy"))
	create("q", object{"Policy": ""}, exists("attribute Policy"))
	cases = append(cases,
		refusalCase{"CreateQueue", object{"QueueName": "q", "tags": object{"a": "b"}}, exists("tags")})
	return cases
}

// queueCases concern the choice of the queue.
func queueCases(c *client) (cases []refusalCase) {
	add := func(op string, in object, want refusal) { cases = append(cases, refusalCase{op, in, want}) }
	// All operations that name their queue by its URL look it up before they check anything else.
	onQueue := map[string]object{
		"AddPermission":                {},
		"ChangeMessageVisibility":      {"ReceiptHandle": "unknown"},
		"ChangeMessageVisibilityBatch": {},
		"DeleteMessage":                {"ReceiptHandle": "unknown"},
		"DeleteMessageBatch":           {},
		"DeleteQueue":                  {},
		"GetQueueAttributes":           {"AttributeNames": list{"Nonsense"}},
		"ListDeadLetterSourceQueues":   {},
		"ListQueueTags":                {},
		"PurgeQueue":                   {},
		"ReceiveMessage":               {"MaxNumberOfMessages": 11},
		"RemovePermission":             {},
		"SendMessage":                  {},
		"SendMessageBatch":             {},
		"SetQueueAttributes":           {},
		"TagQueue":                     {},
		"UntagQueue":                   {},
	}
	for op, in := range onQueue {
		for _, url := range []any{
			nil, "", "/", "nobody", c.URL("nobody"), c.URL("Q"), c.URL("q") + "x", c.URL("deleted"),
			"http://whatever-incorrect-queue-address", "https://queue.amazonaws.com/" + account + "/unknown",
			c.Base + "/12345/q", c.Base + "/queue/q",
		} {
			with := object{}
			for k, v := range in {
				with[k] = v
			}
			if url != nil {
				with["QueueUrl"] = url
			}
			add(op, with, noQueue)
		}
		elsewhere := "https://sqs.eu-fake-99.amazonaws.com/" + account + "/nobody"
		add(op, object{"QueueUrl": elsewhere}, modelled("InvalidAddress", "InvalidAddress", 404,
			"The address "+elsewhere+" is not valid for this web service."))
	}

	noName := invalid("Value for parameter QueueName is invalid. Reason: Must specify a queue name.")
	add("GetQueueUrl", nil, noName)
	add("GetQueueUrl", object{"QueueName": ""}, noName)
	add("GetQueueUrl", object{"QueueName": "nobody"}, noQueue)
	add("GetQueueUrl", object{"QueueName": "q ?"}, noQueue)
	add("GetQueueUrl", object{"QueueName": "deleted"}, noQueue)
	add("GetQueueUrl", object{"QueueName": "q", "QueueOwnerAWSAccountId": "12"},
		invalid("Value 12 for parameter QueueOwnerAWSAccountId is invalid. Reason: Must be an account number of 12 digits."))
	noAccess := noQueue
	noAccess.Message, noAccess.QueryMessage = "The specified queue does not exist or you do not have access to it.", ""
	add("GetQueueUrl", object{"QueueName": "q", "QueueOwnerAWSAccountId": otherAccount}, noAccess)

	for _, op := range []string{"ListQueues", "ListDeadLetterSourceQueues"} {
		page := func(more object, want refusal) {
			if op == "ListDeadLetterSourceQueues" {
				more["QueueUrl"] = c.URL("dlq")
			}
			add(op, more, want)
		}
		for _, n := range []int{-1, 0, 1001} {
			page(object{"MaxResults": n},
				invalid(fmt.Sprintf("Value %d for parameter MaxResults is invalid. Reason: Must be between 1 and 1000, if provided.", n)))
		}
		page(object{"NextToken": "x"},
			invalid("MaxResults is a mandatory parameter when you provide a value for NextToken."))
		page(object{"NextToken": "x", "MaxResults": 1}, invalid("Invalid or expired next token."))
		page(object{"NextToken": "cQBv", "MaxResults": 1}, // "q", and about "o"
			invalid("Invalid NextToken value. If you are passing in NextToken, you must not change the other request parameters."))
	}
	add("PurgeQueue", object{"QueueUrl": c.URL("purged")},
		modelled("PurgeQueueInProgress", "AWS.SimpleQueueService.PurgeQueueInProgress", 403,
			"Only one PurgeQueue operation on purged is allowed every 60 seconds."))
	return cases
}

// attributeCases are refused by SetQueueAttributes; most of them by CreateQueue as well.
func attributeCases(c *client) (cases []refusalCase) {
	setOnly := func(queue string, attributes object, want refusal) {
		cases = append(cases,
			refusalCase{"SetQueueAttributes", object{"QueueUrl": c.URL(queue), "Attributes": attributes}, want})
	}
	set := func(name, value string, want refusal) {
		setOnly("q", object{name: value}, want)
		// A valid attribute does not pass together with an invalid one.
		setOnly("q", object{name: value, "VisibilityTimeout": "77", "DelaySeconds": "7"}, want)
		cases = append(cases,
			refusalCase{"CreateQueue", object{"QueueName": "new", "Attributes": object{name: value}}, want})
	}
	value := func(name, reason string) refusal {
		text := "Invalid value for the parameter " + name + "."
		if reason != "" {
			text += " Reason: " + reason
		}
		return attributeValue(text)
	}

	for name, limits := range map[string][2]int{
		"DelaySeconds": {0, 900}, "MaximumMessageSize": {1024, 1048576}, "MessageRetentionPeriod": {60, 1209600},
		"ReceiveMessageWaitTimeSeconds": {0, 20}, "VisibilityTimeout": {0, 43200},
		"KmsDataKeyReusePeriodSeconds": {60, 86400},
	} {
		want := value(name, fmt.Sprintf("Must be an integer from %d to %d.", limits[0], limits[1]))
		for _, v := range []any{limits[0] - 1, limits[1] + 1, "", "x", "1.5", "1e2", " 30", "99999999999999999999",
			"0x20"} {
			setOnly("q", object{name: fmt.Sprint(v)}, want)
			cases = append(cases,
				refusalCase{"CreateQueue", object{"QueueName": "new", "Attributes": object{name: fmt.Sprint(v)}}, want})
		}
	}
	set("SqsManagedSseEnabled", "yes", value("SqsManagedSseEnabled", "Must be true or false."))
	setOnly("f.fifo", object{"ContentBasedDeduplication": "1"},
		value("ContentBasedDeduplication", "Must be true or false."))
	setOnly("f.fifo", object{"DeduplicationScope": "Queue"},
		value("DeduplicationScope", "Must be one of queue, messageGroup."))
	setOnly("f.fifo", object{"FifoThroughputLimit": "none"},
		value("FifoThroughputLimit", "Must be one of perQueue, perMessageGroupId."))
	setOnly("f.fifo", object{"FifoThroughputLimit": "perMessageGroupId"}, value("FifoThroughputLimit",
		"The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup"))
	setOnly("f.fifo", object{"FifoQueue": "false"}, value("FifoQueue", "Modifying queue type is not supported."))
	setOnly("f.fifo", object{"FifoQueue": "maybe"}, value("FifoQueue", "Must be true or false."))
	for _, v := range []string{"true", "false"} {
		setOnly("q", object{"FifoQueue": v}, attributeName("Unknown Attribute FifoQueue."))
	}
	setOnly("q", object{"ContentBasedDeduplication": "true"},
		attributeName("Unknown Attribute ContentBasedDeduplication."))
	setOnly("q", object{"DeduplicationScope": "queue"},
		attributeName("You can specify the DeduplicationScope only when FifoQueue is set to true."))
	for _, name := range []string{
		"Nonsense", "delayseconds", "All", "QueueArn", "ApproximateNumberOfMessages",
		"ApproximateNumberOfMessagesNotVisible",
		"ApproximateNumberOfMessagesDelayed", "CreatedTimestamp", "LastModifiedTimestamp",
	} {
		set(name, "1", attributeName("Unknown Attribute "+name+"."))
	}
	for _, key := range []string{strings.Repeat("k", 2049), "<\x01", "clé", "a\nb"} {
		set("KmsMasterKeyId", key, value("KmsMasterKeyId", "Must be at most 2048 printable characters of ASCII."))
	}
	oneSSE := attributeName("You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.")
	setOnly("q", object{"KmsMasterKeyId": "k", "SqsManagedSseEnabled": "true"}, oneSSE)
	setOnly("kms", object{"SqsManagedSseEnabled": "true"}, oneSSE)
	cases = append(cases,
		refusalCase{"SetQueueAttributes", object{"QueueUrl": c.URL("q")}, missing("Attribute.Name")},
		refusalCase{"SetQueueAttributes", object{"QueueUrl": c.URL("q"), "Attributes": object{}},
			missing("Attribute.Name")},
		refusalCase{"GetQueueAttributes", object{"QueueUrl": c.URL("q"), "AttributeNames": list{"Foobar"}},
			attributeName("Unknown Attribute Foobar.")},
		refusalCase{"GetQueueAttributes", object{"QueueUrl": c.URL("q"), "AttributeNames": list{"All", "Foobar"}},
			attributeName("Unknown Attribute Foobar.")},
		refusalCase{"GetQueueAttributes", object{"QueueUrl": c.URL("q"), "AttributeNames": list{""}},
			attributeName("Unknown Attribute .")},
		refusalCase{"GetQueueAttributes", object{"QueueUrl": c.URL("q"), "AttributeNames": list{"all"}},
			attributeName("Unknown Attribute all.")},
	)

	for _, tc := range []struct{ policy, reason string }{
		{"x", "line 1, column 1: the document should begin here, not x"},
		{"{", "line 1, column 2: a name in double quotes should begin here, not the end of the text"},
		{"[]", "line 1, column 1: a policy is a list; it has to be an object in braces"},
		{"1", "line 1, column 1: a policy is a number; it has to be an object in braces"},
		{`"{}"`, "line 1, column 1: a policy is a string; it has to be an object in braces"},
		{"null", "line 1, column 1: a policy is null; it has to be an object in braces"},
		{"{}", "line 1, column 1: the policy has no Statement"},
		{`{"Version":"2012-10-17"}`, "line 1, column 1: the policy has no Statement"},
		{`{"Statement":[]}`, "line 1, column 14: the list of statements is empty"},
		{`{"Statement":["x"]}`, "line 1, column 15: a statement is a string; it has to be an object in braces"},
		{`{"Statement":1}`, "line 1, column 14: a statement is a number; it has to be an object in braces"},
		{`{"statement":[{"Effect":"Allow"}]}`,
			`line 1, column 2: "statement" is written "Statement": the names of elements keep their case`},
		{`{"Version":1,"Statement":[{}]}`, "line 1, column 12: Version is a number; it has to be a string"},
		{`{"Statement":[{}]}`, "line 1, column 15: the statement has no Effect"},
		{"{\n  \"Statement\": [\n    {\"Effect\": \"allow\"}\n  ]\n}",
			`line 3, column 16: the Effect "allow" is neither Allow nor Deny`},
		{`{"Statement":[` + allowing("*", "sqs:SendMessage", "*", "") + `]} x`,
			"line 1, column 102: the document has ended, but x follows"},
		{`{"Statement":[` + allowing("*", "sqs:SendMessage", "*", "") + `],}`,
			`line 1, column 100: the comma after the value of "Statement" is not allowed, because nothing but } follows it`},
		{`{"Statement":[` + allowing("*", "sqs:SendMessageBatch", "*", "") + `]}`,
			"line 1, column 66: a batch is covered by the action of its entries and cannot be named; name sqs:sendmessage"},
		{`{"Statement":[` + allowing("*", "sqs:Nonsense", "*", "") + `]}`,
			"line 1, column 66: sqs has no action sqs:nonsense"},
		{`{"Statement":[` + allowing("1111-2222-3333", "sqs:SendMessage", "*", "") + `]}`,
			`line 1, column 52: write the account without hyphens: "111122223333"`},
		{`{"Statement":[` + allowing("*", "sqs:SendMessage", "*", `"stringequals":{"aws:UserAgent":"x"}`) + `]}`,
			`line 1, column 112: "stringequals" is not a condition operator; it is written StringEquals`},
	} {
		set("Policy", tc.policy, value("Policy", tc.reason))
	}
	nobody := "arn:aws:iam::" + account + ":user/nobody"
	setOnly("q", object{"Policy": `{"Statement":[` + allowing(nobody, "sqs:SendMessage", c.ARN("q"), "") + `]}`},
		value("Policy", "The principal "+nobody+" does not exist."))
	statement := func(actions int) string {
		a := make([]string, actions)
		for i := range a {
			a[i] = "SQS:SendMessage"
		}
		b, _ := json.Marshal(a)
		return `{"Effect":"Allow","Principal":"*","Action":` + string(b) + `,"Resource":"*"}`
	}
	set("Policy", `{"Statement":[`+strings.Repeat(statement(1)+",", 20)+statement(1)+`]}`,
		overLimit("21 statements were found in the submitted policy, max allowed is 20"))
	set("Policy", `{"Statement":[`+statement(10)+`]}`,
		overLimit("10 actions were found in a statement from the submitted policy, max allowed is 7"))
	set("Policy", `{"Statement":[{"Sid":"`+strings.Repeat("x", 8192)+`"}]}`,
		overLimit("Submitted policy is over max allowed size."))

	redriveCase := func(policy, reason string) {
		want := invalid("Value " + policy + " for parameter RedrivePolicy is invalid. Reason: " + reason)
		set("RedrivePolicy", policy, want)
	}
	for _, policy := range []string{"x", "[]", "null", `"x"`, `{"maxReceiveCount":1`} {
		redriveCase(policy, "Redrive policy is not a valid JSON map.")
	}
	redriveCase(`{"maxReceiveCount":1}`, "Redrive policy does not contain mandatory attribute: deadLetterTargetArn.")
	redriveCase(`{"deadLetterTargetArn":null,"maxReceiveCount":1}`,
		"Redrive policy does not contain mandatory attribute: deadLetterTargetArn.")
	redriveCase(`{"deadlettertargetarn":"`+c.ARN("dlq")+`","maxReceiveCount":1}`,
		"Redrive policy does not contain mandatory attribute: deadLetterTargetArn.")
	redriveCase(`{"deadLetterTargetArn":"`+c.ARN("dlq")+`"}`,
		"Redrive policy does not contain mandatory attribute: maxReceiveCount.")
	for _, count := range []string{"0", "1001", "-1", "1.5", "true", "[]", "1e1"} {
		redriveCase(redrive(c.ARN("dlq"), count),
			"Invalid value for maxReceiveCount: "+count+", valid values are from 1 to 1000 both inclusive.")
	}
	redriveCase(redrive(c.ARN("dlq"), `"x"`),
		"Invalid value for maxReceiveCount: x, valid values are from 1 to 1000 both inclusive.")
	for _, arn := range []string{"x", "", "arn:aws:sns:us-east-1:" + account + ":dlq", "arn:aws:sqs:us-east-1:12:dlq",
		c.ARN(""),
		c.ARN("d l q"), c.ARN(strings.Repeat("x", 81)), "arn:aws:sqs:US_EAST:" + account + ":dlq",
		"arn:aws:sqs:" + strings.Repeat("r", 64) + ":" + account + ":dlq",
		"arn:" + strings.Repeat("a", 500) + ":sqs:us-east-1:" + account + ":dlq"} {
		redriveCase(redrive(arn, 1), "Only SQS queues are valid resources for deadLetterTargetArn.")
	}
	redriveCase(`{"deadLetterTargetArn":1,"maxReceiveCount":1}`,
		"Only SQS queues are valid resources for deadLetterTargetArn.")
	redriveCase(redrive("arn:aws:sqs:"+c.Region+":"+otherAccount+":dlq", 1),
		"Dead-letter target owner should be same as the source.")
	redriveCase(redrive("arn:aws:sqs:us-east-1:"+account+":dlq", 1),
		"Dead-letter target must be in the same region as the source.")
	redriveCase(redrive(c.ARN("nobody"), 1), "Dead letter target does not exist.")
	redriveCase(redrive(c.ARN("deleted"), 1), "Dead letter target does not exist.")
	redriveCase(redrive(c.ARN("f.fifo"), 1), "Dead-letter queue must be same type of queue as the source..")
	redriveCase(redrive(c.ARN("closed"), 1),
		"The redrive allow policy of the dead-letter queue does not allow this source queue.")
	redriveCase(redrive(c.ARN("choosy"), 1),
		"The redrive allow policy of the dead-letter queue does not allow this source queue.")
	setOnly("f.fifo", object{"RedrivePolicy": redrive(c.ARN("dlq"), 1)}, invalid("Value "+redrive(c.ARN("dlq"), 1)+
		" for parameter RedrivePolicy is invalid. Reason: Dead-letter queue must be same type of queue as the source.."))

	allowCase := func(policy, reason string) {
		want := invalid("Value " + policy + " for parameter RedriveAllowPolicy is invalid. Reason: " + reason)
		set("RedriveAllowPolicy", policy, want)
	}
	const cannot = "Amazon SQS can't create the redrive allow policy. "
	allowCase("x", "Redrive allow policy is not a valid JSON map.")
	allowCase("[]", "Redrive allow policy is not a valid JSON map.")
	allowCase(`{}`, cannot+"The redrivePermission must be allowAll, denyAll or byQueue.")
	allowCase(`{"redrivePermission":"DenyAll"}`, cannot+"The redrivePermission must be allowAll, denyAll or byQueue.")
	allowCase(`{"redrivePermission":1}`, cannot+"The redrivePermission must be a string.")
	allowCase(`{"redrivePermission":"byQueue","sourceQueueArns":"x"}`,
		cannot+"The sourceQueueArns must be a list of strings.")
	for _, policy := range []string{`{"redrivePermission":"byQueue"}`,
		`{"redrivePermission":"byQueue","sourceQueueArns":[]}`} {
		allowCase(policy,
			cannot+
				"When you specify the byQueue permission type, you must also specify one or more sourceQueueArns values.")
	}
	for _, permission := range []string{"allowAll", "denyAll"} {
		allowCase(`{"redrivePermission":"`+permission+`","sourceQueueArns":["`+c.ARN("q")+`"]}`,
			cannot+"To specify one or more source queue ARNs, you must set redrivePermission to byQueue.")
	}
	for _, arn := range []string{"x", c.ARN(strings.Repeat("x", 81)),
		"arn:" + strings.Repeat("a", 500) + ":sqs:us-east-1:" + account + ":q"} {
		allowCase(`{"redrivePermission":"byQueue","sourceQueueArns":["`+arn+`"]}`,
			cannot+"Every one of sourceQueueArns must be the ARN of an SQS queue.")
	}
	allowCase(`{"redrivePermission":"byQueue","sourceQueueArns":["`+strings.Repeat(`x","`, 10)+`x"]}`,
		cannot+"You can specify at most 10 sourceQueueArns values.")
	return cases
}

const badContents = "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"

func badID(value, parameter string) refusal {
	return invalid("Value " + value + " for parameter " + parameter + " is invalid. Reason: " + parameter +
		" can only include alphanumeric and punctuation characters. 1 to 128 in length.")
}

const (
	needsDedup = "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"
	wrongType  = "The request include parameter that is not valid for this queue type"
)

func sendCases(c *client) (cases []refusalCase) {
	send := func(queue string, in object, want refusal) {
		with := object{"QueueUrl": c.URL(queue), "MessageBody": "hello"}
		for k, v := range in {
			with[k] = v
			if v == nil {
				delete(with, k)
			}
		}
		cases = append(cases, refusalCase{"SendMessage", with, want})
	}
	send("q", object{"MessageBody": nil}, missing("MessageBody"))
	send("q", object{"MessageBody": ""}, missing("MessageBody"))
	send("q", object{"MessageBody": nil, "Body": "misspelt"}, missing("MessageBody"))
	tooLong := invalid("One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.")
	send("q", object{"MessageBody": strings.Repeat("x", 1025)}, tooLong)
	send("q", object{"MessageBody": strings.Repeat("é", 513)}, tooLong)
	// Names, types and values of attributes count: 1 + 6 + 1.
	send("q", object{"MessageBody": strings.Repeat("x", 1017), "MessageAttributes": object{"a": text("b")}}, tooLong)
	send("dlq", object{"MessageBody": strings.Repeat("x", 1_048_577)},
		invalid("One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes."))
	for _, body := range []string{"\x00", "a\x01", "\x08", "\x0b", "\x0c", "\x0e", "\x1f", "\ufffe", "\uffff"} {
		send("q", object{"MessageBody": body},
			modelled("InvalidMessageContents", "InvalidMessageContents", 400, badContents))
	}
	for _, n := range []int{-1, 901} {
		want := invalid(fmt.Sprintf("Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.", n))
		send("q", object{"DelaySeconds": n}, want)
		send("content.fifo", object{"DelaySeconds": n, "MessageGroupId": "g"}, want)
	}
	send("content.fifo", object{"DelaySeconds": 2, "MessageGroupId": "g"},
		invalid("Value 2 for parameter DelaySeconds is invalid. Reason: "+wrongType+"."))
	send("f.fifo", object{"MessageDeduplicationId": "x"}, missing("MessageGroupId"))
	send("content.fifo", nil, missing("MessageGroupId"))
	send("f.fifo", object{"MessageGroupId": "g"}, invalid(needsDedup))
	for _, id := range []string{"", "a b", "é", "\x7f", "a\n", strings.Repeat("x", 129)} {
		send("f.fifo", object{"MessageGroupId": id, "MessageDeduplicationId": "x"}, badID(id, "MessageGroupId"))
		send("f.fifo", object{"MessageGroupId": "g", "MessageDeduplicationId": id}, badID(id, "MessageDeduplicationId"))
		send("q", object{"MessageGroupId": id}, badID(id, "MessageGroupId"))
	}
	send("q", object{"MessageDeduplicationId": "x"},
		invalid("Value x for parameter MessageDeduplicationId is invalid. Reason: "+wrongType+"."))
	send("q", object{"MessageSystemAttributes": object{"Other": text("x")}},
		invalid("Message system attribute name 'Other' is invalid."))
	send("q",
		object{"MessageSystemAttributes": object{"AWSTraceHeader": object{"DataType": "Number", "StringValue": "1"}}},
		invalid("Message system attribute 'AWSTraceHeader' must be of type 'String' and have a string value."))
	send("q", object{"MessageSystemAttributes": object{"AWSTraceHeader": text("")}},
		invalid("Message system attribute 'AWSTraceHeader' must contain a non-empty value of type 'String'."))
	for _, n := range []int{1025, 1_000_000} {
		send("q", object{"MessageSystemAttributes": object{"AWSTraceHeader": text(strings.Repeat("t", n))}},
			invalid("Message system attribute 'AWSTraceHeader' must be at most 1024 bytes long."))
	}
	send("q",
		object{
			"MessageSystemAttributes": object{
				"AWSTraceHeader": object{"DataType": "String", "StringListValues": list{"x"}},
			},
		},
		batchRefusal("UnsupportedOperation",
			"Message attribute list values in SendMessage operation are not supported."))
	return cases
}

func messageAttributeCases(c *client) (cases []refusalCase) {
	send := func(attributes object, want refusal) {
		cases = append(cases,
			refusalCase{"SendMessage",
				object{"QueueUrl": c.URL("dlq"), "MessageBody": "m", "MessageAttributes": attributes}, want})
	}
	one := func(name string, value object, message string) { send(object{name: value}, invalid(message)) }

	eleven := object{}
	for i := range 11 {
		eleven[fmt.Sprint("a", i)] = text("x")
	}
	send(eleven, invalid("Number of message attributes [11] exceeds the allowed maximum [10]."))

	one("", text("x"), "Message (user) attribute names must not be empty.")
	one(strings.Repeat("x", 257), text("x"), "Message (user) attribute names must be shorter than 256 Bytes")
	for _, name := range []string{"AWS.x", "aWs.x", "aws.", "Amazon.x", "AMAZON.x"} {
		one(name, text("x"),
			"You can't use message attribute names beginning with 'AWS.' or 'Amazon'. These strings are reserved for internal use.")
	}
	one(".x", text("x"), "Message (user) attribute name must not begin with character '.'.")
	one("x.", text("x"), "Message (user) attribute name must not end with character '.'.")
	one("x..y", text("x"), "Message (user) attribute name must not have successive '.' characters.")
	for _, name := range []string{"a!", `a"`, "a§", "a(", "a?", "a b", "a\x00", "a/b", "a;b"} {
		one(name, text("x"),
			"Message (user) attribute name '"+name+
				"' is invalid. It can contain the characters A-Z, a-z, 0-9, underscore (_), hyphen (-), and period (.).")
	}
	one("ErrorDetails", text(""),
		"Message (user) attribute 'ErrorDetails' must contain a non-empty value of type 'String'.")
	one("n", number(""), "Message (user) attribute 'n' must contain a non-empty value of type 'Number'.")
	one("b", object{"DataType": "Binary", "BinaryValue": ""},
		"Message (user) attribute 'b' must contain a non-empty value of type 'Binary'.")
	for _, dataType := range []string{"x", "string", "STRING", "Strin", "Stringx", ".String", "StringList", " String",
		"String.\x00"} {
		one("invalidAttribute", object{"DataType": dataType, "StringValue": "x"},
			"The type of message (user) attribute 'invalidAttribute' is invalid. You must use only the following supported type prefixes: Binary, Number, String.")
	}
	one("x", object{"DataType": "String." + strings.Repeat("x", 250), "StringValue": "x"},
		"The type of message (user) attribute 'x' must be at most 256 bytes long.")
	one("X", object{"StringValue": "x"},
		"The message (user) attribute 'X' must contain a non-empty message attribute type.")
	one("X", object{"DataType": "", "StringValue": "x"},
		"The message (user) attribute 'X' must contain a non-empty message attribute type.")
	one("X", object{"DataType": "String"},
		"The message (user) attribute 'X' must contain a non-empty message attribute value.")
	one("X", object{"DataType": "String", "StringValue": "x", "BinaryValue": "AA=="},
		"Message (user) attribute 'X' must have a single value.")
	one("X", object{"DataType": "String", "BinaryValue": "AA=="},
		"Message (user) attribute 'X' with type 'String' must use field 'String'.")
	one("X", object{"DataType": "Number.int", "BinaryValue": "AA=="},
		"Message (user) attribute 'X' with type 'Number' must use field 'String'.")
	one("X", object{"DataType": "Binary", "StringValue": "x"},
		"Message (user) attribute 'X' with type 'Binary' must use field 'Binary'.")
	one("X", text("a\x00"),
		"Invalid characters found in the value of message (user) attribute 'X'. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF")
	for _, n := range []string{"x", "1x", "", "1,5", "0x1", "Infinity", "NaN", "-", ".", "e1", "1e", "-+1", "1e127",
		"1e-129", "1 ", strings.Repeat("1", 39)} {
		if n != "" {
			one("Age", number(n), "Can't cast the value of message (user) attribute 'Age' to a number.")
		}
	}
	noLists := batchRefusal("UnsupportedOperation",
		"Message attribute list values in SendMessage operation are not supported.")
	send(object{"X": object{"DataType": "String", "StringListValues": list{"x"}}}, noLists)
	send(object{"X": object{"DataType": "Binary", "BinaryListValues": list{"AA=="}}}, noLists)
	// One invalid attribute is enough.
	send(object{"good": text("x"), "bad!": text("x")},
		invalid("Message (user) attribute name 'bad!' is invalid. It can contain the characters A-Z, a-z, 0-9, underscore (_), hyphen (-), and period (.)."))
	return cases
}

// batchCases fail as a whole.
func batchCases(c *client, f fixture) (cases []refusalCase) {
	batch := func(op, queue string, entries list, want refusal) {
		cases = append(cases, refusalCase{op, object{"QueueUrl": c.URL(queue), "Entries": entries}, want})
	}
	fill := map[string]func(id any) object{
		"SendMessageBatch": func(id any) object { return object{"Id": id, "MessageBody": "m"} },
		"DeleteMessageBatch": func(id any) object {
			return object{"Id": id, "ReceiptHandle": f.handle}
		},
		"ChangeMessageVisibilityBatch": func(id any) object {
			return object{"Id": id, "ReceiptHandle": f.handle, "VisibilityTimeout": 0}
		},
	}
	for op, entry := range fill {
		empty := batchRefusal("EmptyBatchRequest", "There should be at least one "+op+"RequestEntry in the request.")
		cases = append(cases, refusalCase{op, object{"QueueUrl": c.URL("q")}, empty})
		batch(op, "q", list{}, empty)
		var many list
		for i := range 20 {
			many = append(many, entry(fmt.Sprint("id", i)))
		}
		batch(op, "q", many[:11],
			batchRefusal("TooManyEntriesInBatchRequest",
				"Maximum number of entries per request are 10. You have sent 11."))
		batch(op, "q", many,
			batchRefusal("TooManyEntriesInBatchRequest",
				"Maximum number of entries per request are 10. You have sent 20."))
		badEntry := batchRefusal("InvalidBatchEntryId",
			"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		for _, id := range []string{"", "a b", "a.b", "é", "a:b", strings.Repeat("x", 81)} {
			batch(op, "q", list{entry(id)}, badEntry)
			batch(op, "q", list{entry("good"), entry(id)}, badEntry)
		}
		nameless := entry("")
		delete(nameless, "Id")
		batch(op, "q", list{nameless}, badEntry)
		batch(op, "q", list{entry("id_1"), entry("id_2"), entry("id_2"), entry("id_1")},
			batchRefusal("BatchEntryIdsNotDistinct", "Id id_2 repeated."))
	}

	send := fill["SendMessageBatch"]
	long := func(id string, n int) object { return object{"Id": id, "MessageBody": strings.Repeat("x", n)} }
	tooLong := func(n int) refusal {
		return batchRefusal("BatchRequestTooLong",
			fmt.Sprintf("Batch requests cannot be longer than 1048576 bytes. You have sent %d bytes.", n))
	}
	// The limit of the queue, 1024 bytes, does not apply to the whole batch.
	batch("SendMessageBatch", "q", list{long("a", 1_048_577)}, tooLong(1_048_577))
	batch("SendMessageBatch", "dlq", list{long("a", 1_048_000), long("b", 577)}, tooLong(1_048_577))
	attributed := long("a", 1_048_569)
	attributed["MessageAttributes"] = object{"a": text("b")}
	batch("SendMessageBatch", "dlq", list{attributed}, tooLong(1_048_577))
	batch("SendMessageBatch", "q", list{send("a"), object{"Id": "b"}},
		missing("SendMessageBatchRequestEntry.2.MessageBody"))

	grouped := send("a")
	grouped["MessageGroupId"], grouped["MessageDeduplicationId"] = "g", "d"
	batch("SendMessageBatch", "f.fifo", list{grouped, send("b")},
		invalid("The request must contain the parameter MessageGroupId."))
	undedup := send("b")
	undedup["MessageGroupId"] = "g"
	batch("SendMessageBatch", "f.fifo", list{grouped, undedup}, invalid(needsDedup))
	return cases
}

func receiveCases(c *client) (cases []refusalCase) {
	receive := func(queue string, in object, want refusal) {
		in["QueueUrl"] = c.URL(queue)
		cases = append(cases, refusalCase{"ReceiveMessage", in, want})
	}
	for _, n := range []int{-1, 0, 11} {
		receive("q", object{"MaxNumberOfMessages": n},
			invalid(fmt.Sprintf("Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", n)))
	}
	for _, n := range []int{-1, 21} {
		receive("q", object{"WaitTimeSeconds": n},
			invalid(fmt.Sprintf("Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.", n)))
	}
	for _, n := range []int{-1, 43201} {
		receive("q", object{"VisibilityTimeout": n},
			invalid(fmt.Sprintf("Value %d for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided.", n)))
	}
	for _, name := range []string{"Nonsense", "senderId", "VisibilityTimeout", ""} {
		receive("q", object{"AttributeNames": list{"All", name}}, attributeName("Unknown Attribute "+name+"."))
		receive("q", object{"MessageSystemAttributeNames": list{name}}, attributeName("Unknown Attribute "+name+"."))
	}
	for _, id := range []string{"", "a b", strings.Repeat("x", 129)} {
		receive("f.fifo", object{"ReceiveRequestAttemptId": id}, badID(id, "ReceiveRequestAttemptId"))
	}
	return cases
}

func receiptCases(c *client, f fixture) (cases []refusalCase) {
	add := func(op, queue, handle string, more object, want refusal) {
		in := object{"QueueUrl": c.URL(queue)}
		for k, v := range more {
			in[k] = v
		}
		if handle != "" {
			in["ReceiptHandle"] = handle
		}
		cases = append(cases, refusalCase{op, in, want})
	}
	bad := func(handle string) refusal {
		return modelled("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404,
			`The input receipt handle "`+handle+`" is not a valid receipt handle.`)
	}
	hide := object{"VisibilityTimeout": 10}
	for _, handle := range []string{"garbage", "<x>&\"", f.handle + "x", f.handle[1:], strings.ToUpper(f.handle),
		f.handle + "="} {
		add("DeleteMessage", "q", handle, nil, bad(handle))
		add("ChangeMessageVisibility", "q", handle, hide, bad(handle))
	}
	long := strings.Repeat("x", 5000)
	add("DeleteMessage", "q", long, nil, bad(long[:1024]+"...")) // an error repeats no more of it
	// A handle is valid for its own queue only.
	add("DeleteMessage", "dlq", f.handle, nil, bad(f.handle))
	add("DeleteMessage", "f.fifo", f.handle, nil, bad(f.handle))
	add("ChangeMessageVisibility", "dlq", f.handle, hide, bad(f.handle))

	add("DeleteMessage", "q", "", nil, missing("ReceiptHandle"))
	add("ChangeMessageVisibility", "q", "", hide, missing("ReceiptHandle"))
	add("ChangeMessageVisibility", "q", f.handle, nil, missing("VisibilityTimeout"))
	for _, n := range []int{-1, 43201} {
		add("ChangeMessageVisibility", "q", f.handle, object{"VisibilityTimeout": n},
			invalid(fmt.Sprintf("Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.", n)))
	}
	add("ChangeMessageVisibility", "q", f.handle, object{"VisibilityTimeout": 43200},
		invalid("Value 43200 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds]"))
	add("ChangeMessageVisibility", "q", f.gone, hide, invalid("Value "+f.gone+
		" for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change."))
	late := invalid("Value " + f.expired +
		" for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.")
	add("DeleteMessage", "f.fifo", f.expired, nil, late)
	add("ChangeMessageVisibility", "f.fifo", f.expired, hide, late)
	return cases
}

func permissionCases(c *client) (cases []refusalCase) {
	add := func(queue string, in object, want refusal) {
		with := object{
			"QueueUrl": c.URL(queue), "Label": "new", "AWSAccountIds": list{otherAccount},
			"Actions": list{"SendMessage"},
		}
		for k, v := range in {
			with[k] = v
			if v == nil {
				delete(with, k)
			}
		}
		cases = append(cases, refusalCase{"AddPermission", with, want})
	}
	add("q", object{"Label": nil}, missing("Label"))
	for _, label := range []string{"a b", "é", strings.Repeat("x", 81)} {
		add("q", object{"Label": label},
			invalid("Value "+label+
				" for parameter Label is invalid. Reason: Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"))
	}
	add("q", object{"Label": "taken"}, invalid("Value taken for parameter Label is invalid. Reason: Already exists."))
	add("q", object{"Actions": nil}, missing("Actions"))
	add("q", object{"Actions": list{}}, missing("Actions"))
	eight := list{"SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes",
		"GetQueueUrl", "PurgeQueue", "ListDeadLetterSourceQueues"}
	add("q", object{"Actions": eight}, overLimit("8 Actions were found, maximum allowed is 7."))
	add("crowded", nil, overLimit("21 Statements were found, maximum allowed is 20."))
	for _, action := range []string{"AddPermission", "CreateQueue", "DeleteQueue", "ListQueues", "ListQueueTags",
		"RemovePermission",
		"SetQueueAttributes", "TagQueue", "UntagQueue", "StartMessageMoveTask", "CancelMessageMoveTask",
		"ListMessageMoveTasks"} {
		add("q", object{"Actions": list{"SendMessage", action}},
			invalid("Value SQS:"+action+
				" for parameter ActionName is invalid. Reason: Only the queue owner is allowed to invoke this action."))
	}
	for _, action := range []string{"Nonsense", "SendMessageBatch", "sendmessage", "SQS:SendMessage", ""} {
		add("q", object{"Actions": list{action}},
			invalid("Value SQS:"+action+
				" for parameter ActionName is invalid. Reason: Please refer to the appropriate WSDL for a list of valid actions. "))
	}
	noPrincipal := invalid("Value [] for parameter PrincipalId is invalid. Reason: Unable to verify.")
	add("q", object{"AWSAccountIds": nil}, noPrincipal)
	add("q", object{"AWSAccountIds": list{}}, noPrincipal)
	add("q", object{"AWSAccountIds": list{otherAccount, "1"}},
		invalid("Value [1] for parameter PrincipalId is invalid. Reason: Unable to verify."))
	remove := func(in object, want refusal) {
		in["QueueUrl"] = c.URL("q")
		cases = append(cases, refusalCase{"RemovePermission", in, want})
	}
	remove(object{}, missing("Label"))
	remove(object{"Label": "nobody"}, invalid("Value nobody for parameter Label is invalid. Reason: can't find label."))
	return cases
}

func tagCases(c *client) (cases []refusalCase) {
	tag := func(tags any, want refusal) {
		in := object{"QueueUrl": c.URL("q")}
		created := object{"QueueName": "new"}
		if tags != nil {
			in["Tags"], created["tags"] = tags, tags
		}
		cases = append(cases, refusalCase{"TagQueue", in, want})
		if m, _ := tags.(object); len(m) > 0 {
			cases = append(cases, refusalCase{"CreateQueue", created, want})
		}
	}
	tag(nil, missing("Tags"))
	tag(object{}, missing("Tags"))
	badLength := invalid("Tag keys must be between 1 and 128 characters in length.")
	tag(object{"": "v"}, badLength)
	tag(object{"k": "v", strings.Repeat("é", 129): "v"}, badLength)
	badKey := invalid("Tag keys may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @")
	for _, key := range []string{"a!", "a#", "a\x00", "a*b", "a,b"} {
		tag(object{key: "v"}, badKey)
	}
	for _, key := range []string{"aws:x", "AWS:x", "aws:"} {
		tag(object{key: "v"}, invalid("Tag keys beginning with aws: are reserved for system use."))
	}
	for _, key := range []string{"sluice:shrads", "Sluice:shards", "sluice:"} {
		tag(object{key: "2"},
			invalid("Tag keys beginning with sluice: are reserved for this service, which knows sluice:shards, sluice:delivery, sluice:max-receive-rate, sluice:max-in-flight, sluice:idle."))
	}
	for _, n := range []int{257, 2000} {
		tag(object{"k": strings.Repeat("x", n)}, invalid("Tag values may not exceed 256 characters in length."))
	}
	tag(object{strings.Repeat("x", 2000): "v"}, badLength)
	tag(object{"k": "a;b"},
		invalid("Tag values may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @"))
	many := object{}
	for i := range 51 {
		many[fmt.Sprint("k", i)] = "v"
	}
	cases = append(cases,
		refusalCase{"TagQueue", object{"QueueUrl": c.URL("tagged"), "Tags": object{"one": "more"}},
			invalid("Too many tags added for queue tagged.")},
		refusalCase{"TagQueue", object{"QueueUrl": c.URL("q"), "Tags": many},
			invalid("Too many tags added for queue q.")},
		refusalCase{"CreateQueue", object{"QueueName": "new", "tags": many},
			invalid("Too many tags added for queue new.")},
		refusalCase{"UntagQueue", object{"QueueUrl": c.URL("q")}, badLength},
		refusalCase{"UntagQueue", object{"QueueUrl": c.URL("q"), "TagKeys": list{}}, badLength},
		refusalCase{"UntagQueue", object{"QueueUrl": c.URL("tagged"), "TagKeys": list{"key1", ""}}, badLength},
		refusalCase{"UntagQueue", object{"QueueUrl": c.URL("tagged"), "TagKeys": list{strings.Repeat("x", 2000)}},
			badLength},
		refusalCase{"UntagQueue", object{"QueueUrl": c.URL("tagged"), "TagKeys": list{"key1", "a!"}}, badKey},
	)
	return cases
}

func moveCases(c *client) (cases []refusalCase) {
	add := func(op string, in object, want refusal) { cases = append(cases, refusalCase{op, in, want}) }
	noSource := resourceNotFound("The resource that you specified for the SourceArn parameter doesn't exist.")
	noDestination := resourceNotFound("The resource that you specified for the DestinationArn parameter doesn't exist.")
	format := func(parameter string) refusal {
		return invalid("You must use this format to specify the " + parameter +
			": arn:<partition>:<service>:<region>:<account-id>:<resource-id>")
	}
	for _, op := range []string{"StartMessageMoveTask", "ListMessageMoveTasks"} {
		add(op, nil, missing("SourceArn"))
		for _, arn := range []string{"x", c.URL("dlq"), "arn:aws:sqs:us-east-1:" + account,
			"arn:aws:sns:us-east-1:" + account + ":x",
			"arn:aws:sqs:" + strings.Repeat("r", 64) + ":" + account + ":x"} {
			add(op, object{"SourceArn": arn}, format("SourceArn"))
		}
		add(op, object{"SourceArn": c.ARN("nobody")}, noSource)
		add(op, object{"SourceArn": "arn:aws:sqs:us-east-1:" + account + ":dlq"}, noSource)
	}
	start := func(in object, want refusal) {
		if in["SourceArn"] == nil {
			in["SourceArn"] = c.ARN("dlq")
		}
		add("StartMessageMoveTask", in, want)
	}
	start(object{"SourceArn": c.ARN("q")}, invalid("Source queue must be configured as a Dead Letter Queue."))
	start(object{"DestinationArn": "x"}, format("DestinationArn"))
	start(object{"DestinationArn": c.ARN("nobody")}, noDestination)
	start(object{"DestinationArn": c.ARN("dlq")},
		invalid("Source queue arn and destination queue arn cannot be the same."))
	start(object{"DestinationArn": c.ARN("f.fifo")},
		invalid("Source queue and destination queue must be of the same type."))
	for _, rate := range []int{-1, 0, 501} {
		start(object{"MaxNumberOfMessagesPerSecond": rate},
			invalid("Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500."))
	}
	for _, n := range []int{0, 11} {
		add("ListMessageMoveTasks", object{"SourceArn": c.ARN("dlq"), "MaxResults": n},
			invalid(fmt.Sprintf("Value %d for parameter MaxResults is invalid. Reason: Must be between 1 and 10, if provided.", n)))
	}
	badTask := invalid("Value for parameter TaskHandle is invalid.")
	add("CancelMessageMoveTask", nil, missing("TaskHandle"))
	for _, handle := range []string{"x", "eA==", "e30=", taskHandle("t", "x"), taskHandle("", c.ARN("dlq"))} {
		add("CancelMessageMoveTask", object{"TaskHandle": handle}, badTask)
	}
	add("CancelMessageMoveTask", object{"TaskHandle": taskHandle("t", c.ARN("nobody"))}, noSource)
	add("CancelMessageMoveTask", object{"TaskHandle": taskHandle("t", c.ARN("dlq"))},
		resourceNotFound("Task does not exist."))
	return cases
}

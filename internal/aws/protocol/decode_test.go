package protocol_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// TestDecode expects the same input from all protocols. An empty spelling means that the protocol has none. The CBOR
// spelling has the structure of the JSON one.
func TestDecode(t *testing.T) {
	t.Parallel()
	const url = "http://localhost/1/q"
	for _, c := range []struct {
		about     string
		operation string
		json      string
		query     string
		want      any
	}{{
		"nothing at all", "SendMessage",
		`{}`, ``,
		&sendInput{},
	}, {
		"scalars", "SendMessage",
		` { "QueueUrl" : "http://localhost/1/q" , "MessageBody":"hi","DelaySeconds":-5,"Priority":9223372036854775807,"Urgent":true } `,
		`QueueUrl=http%3A%2F%2Flocalhost%2F1%2Fq&MessageBody=hi&DelaySeconds=-5&Priority=9223372036854775807&Urgent=true`,
		&sendInput{
			QueueUrl: url, MessageBody: p("hi"), DelaySeconds: p(int32(-5)), Priority: 1<<63 - 1, Urgent: p(true),
		},
	}, {
		"zero is not absent", "SendMessage",
		`{"MessageBody":"","DelaySeconds":0,"Urgent":false}`,
		`MessageBody=&DelaySeconds=0&Urgent=false`,
		&sendInput{MessageBody: p(""), DelaySeconds: p(int32(0)), Urgent: p(false)},
	}, {
		"null is absent", "SendMessage",
		`{"MessageBody":null,"DelaySeconds":null,"Priority":null,"MessageAttributes":null,"Note":null}`, ``,
		&sendInput{},
	}, {
		"text beyond ASCII", "SendMessage",
		"{\"MessageBody\":\"\\u00fc\U0001F600\\uD83D\\uDE00 \\\"\\\\\\/\\b\\f\\n\\r\\t+\"}",
		"MessageBody=%C3%BC\U0001F600%f0%9F%98%80+%22%5c/%08%0C%0A%0D%09%2B",
		&sendInput{MessageBody: p("ü😀😀 \"\\/\b\f\n\r\t+")},
	}, {
		"a map of structures", "SendMessage",
		`{"MessageAttributes":{"n":{"DataType":"Number","StringValue":"1"},"b":{"BinaryValue":"AAE=","DataType":"Binary"}}}`,
		`MessageAttribute.1.Name=n&MessageAttribute.1.Value.DataType=Number&MessageAttribute.1.Value.StringValue=1` +
			`&MessageAttribute.2.Name=b&MessageAttribute.2.Value.DataType=Binary&MessageAttribute.2.Value.BinaryValue=AAE%3D`,
		&sendInput{MessageAttributes: map[string]attributeValue{
			"n": {DataType: "Number", StringValue: p("1")},
			"b": {DataType: "Binary", BinaryValue: []byte{0, 1}},
		}},
	}, {
		"lists inside maps, and empty blobs", "SendMessage",
		`{"MessageAttributes":{"n":{"StringListValues":["a","b"],"BinaryListValues":["","Ag=="],"BinaryValue":""}}}`,
		`MessageAttribute.1.Name=n&MessageAttribute.1.Value.StringListValue.1=a&MessageAttribute.1.Value.StringListValue.2=b` +
			`&MessageAttribute.1.Value.BinaryListValue.1=&MessageAttribute.1.Value.BinaryListValue.2=Ag==&MessageAttribute.1.Value.BinaryValue=`,
		&sendInput{MessageAttributes: map[string]attributeValue{
			"n": {StringListValues: []string{"a", "b"}, BinaryListValues: [][]byte{{}, {2}}, BinaryValue: []byte{}},
		}},
	}, {
		"a structure inside a structure", "SendMessage",
		`{"Note":{"DataType":"x"}}`, `Note.DataType=x`,
		&sendInput{Note: &attributeValue{DataType: "x"}},
	}, {
		"a list of structures with maps of pointers", "SendMessageBatch",
		`{"Entries":[{"Id":"1","MessageBody":"a","DelaySeconds":3},{"Id":"2","MessageAttributes":{"k":{"DataType":"String"}}}]}`,
		`SendMessageBatchRequestEntry.1.Id=1&SendMessageBatchRequestEntry.1.MessageBody=a&SendMessageBatchRequestEntry.1.DelaySeconds=3` +
			`&SendMessageBatchRequestEntry.2.Id=2&SendMessageBatchRequestEntry.2.MessageAttribute.1.Name=k` +
			`&SendMessageBatchRequestEntry.2.MessageAttribute.1.Value.DataType=String`,
		&sendBatchInput{Entries: []sendBatchEntry{
			{Id: "1", MessageBody: "a", DelaySeconds: p(3)},
			{Id: "2", MessageAttributes: map[string]*attributeValue{"k": {DataType: "String"}}},
		}},
	}, {
		"maps of strings, with other entry names", "CreateQueue",
		`{"QueueName":"q","Attributes":{"A":"1","B":""},"tags":{"k":"v"}}`,
		`QueueName=q&Attribute.1.Name=A&Attribute.1.Value=1&Attribute.2.Name=B&Attribute.2.Value=&Tag.1.Key=k&Tag.1.Value=v`,
		&createInput{
			QueueName: "q", Attributes: map[string]string{"A": "1", "B": ""}, Tags: map[string]string{"k": "v"},
		},
	}, {
		"empty collections are present", "CreateQueue",
		`{"Attributes":{},"tags":{}}`, `Attribute=&Tag=`,
		&createInput{Attributes: map[string]string{}, Tags: map[string]string{}},
	}, {
		"an empty list is present", "ReceiveMessage",
		`{"AttributeNames":[]}`, `AttributeName=`,
		&receiveInput{AttributeNames: []string{}},
	}, {
		"wrapped collections", "Wrapped",
		`{"Names":["a","b"],"Pairs":{"k":"v"},"Tags":[{"Key":"x","Value":"y"}]}`,
		`Names.member.1=a&Names.member.2=b&Pairs.entry.1.key=k&Pairs.entry.1.value=v&Tags.member.1.Key=x&Tags.member.1.Value=y`,
		&wrappedInput{Names: []string{"a", "b"}, Pairs: map[string]string{"k": "v"}, Tags: []tag{{"x", "y"}}},
	}, {
		"empty wrapped collections", "Wrapped",
		`{"Names":[],"Pairs":{}}`, `Names=&Pairs=`,
		&wrappedInput{Names: []string{}, Pairs: map[string]string{}},
	}, {
		"unknown members", "CreateQueue",
		`{"Else":{"a":[1,{"b":null},"c",true,false,-0.5e+3]},"QueueName":"q","DefaultVisibilityTimeout":"1"}`, ``,
		&createInput{QueueName: "q"},
	}, {
		"unknown and nameless parameters", "CreateQueue",
		``, `Else=1&Else.1.Name=x&QueueName=q&QueueName.1=x&JSONOnly=x&=&=x&&;`,
		&createInput{QueueName: "q"},
	}, {
		"an entry of which everything is unknown", "CreateQueue",
		``, `Attribute.1.Else=x&Attribute.2=x`,
		&createInput{Attributes: map[string]string{}},
	}, {
		"members are found through escapes", "SendMessage",
		`{"\u004dessageBody":"hi"}`, `%4dessageBody=hi`,
		&sendInput{MessageBody: p("hi")},
	}, {
		"names are case-sensitive", "SendMessage",
		`{"messagebody":"hi"}`, `messagebody=hi`,
		&sendInput{},
	}, {
		"the last of two members counts", "CreateQueue",
		`{"QueueName":"a","QueueName":"b","Attributes":{"x":"1"},"Attributes":{"y":"1","y":"2","z":"3","z":null}}`, ``,
		&createInput{QueueName: "b", Attributes: map[string]string{"y": "2"}},
	}, {
		"the first of two parameters counts", "CreateQueue",
		``,
		`QueueName=a&QueueName=b&Attribute.1.Name=x&Attribute.1.Name=y&Attribute.1.Value=1&Attribute.2.Name=x&Attribute.2.Value=2`,
		&createInput{QueueName: "a", Attributes: map[string]string{"x": "1"}},
	}, {
		"parameters only Query has", "CreateQueue",
		``, `DefaultVisibilityTimeout=40`,
		&createInput{Legacy: p("40")},
	}, {
		"members only JSON has", "CreateQueue",
		`{"JSONOnly":"x"}`, ``,
		&createInput{JSONOnly: p("x")},
	}, {
		"an alias", "CreateQueue",
		``, `Tags.1.Key=k&Tags.1.Value=v`,
		&createInput{Tags: map[string]string{"k": "v"}},
	}, {
		"a list of one without its number", "ReceiveMessage",
		``, `AttributeName=All`,
		&receiveInput{AttributeNames: []string{"All"}},
	}, {
		"a map of one without its number", "CreateQueue",
		``, `Attribute.Value=1&Attribute.Name=x`,
		&createInput{Attributes: map[string]string{"x": "1"}},
	}, {
		"numbers in any order, with gaps", "ReceiveMessage",
		``, `AttributeName.10=d&AttributeName.2=b&AttributeName.007=c&AttributeName.0=a`,
		&receiveInput{AttributeNames: []string{"a", "b", "c", "d"}},
	}, {
		"numbers with a fraction", "Measure",
		`{"Value":-1.5e-3,"Values":[0,1e300,42,0.5]}`,
		`Value=-0.0015&Values.member.1=0&Values.member.2=1e300&Values.member.3=42&Values.member.4=.5`,
		&measureInput{Value: p(-0.0015), Values: []float64{0, 1e300, 42, 0.5}},
	}, {
		"semicolons are text", "ReceiveMessage",
		``, `AttributeName=All;&;&;=;`,
		&receiveInput{AttributeNames: []string{"All;"}},
	}} {
		if c.json != "" {
			in, err := decodeJSON(c.operation, c.json)
			if err != nil || !reflect.DeepEqual(in, c.want) {
				t.Errorf("%s, JSON: %s, want %s, error %v", c.about, show(in), show(c.want), err)
			}
			for _, indefinite := range []bool{false, true} {
				body := asCBOR(t, c.json, inputs[c.operation], indefinite)
				in, err := decodeCBOR(c.operation, body)
				if err != nil || !reflect.DeepEqual(in, c.want) {
					t.Errorf("%s, CBOR: %x is %s, want %s, error %v", c.about, body, show(in), show(c.want), err)
				}
			}
		}
		if c.query != "" {
			in, err := decodeQuery(c.operation, c.query)
			if err != nil || !reflect.DeepEqual(in, c.want) {
				t.Errorf("%s, Query: %s, want %s, error %v", c.about, show(in), show(c.want), err)
			}
		}
	}
}

func show(v any) string { return strings.ReplaceAll(fmt.Sprintf("%#v", v), "protocol_test.", "") }

// TestDecodeTextThatIsNotUTF8 checks that text which a service would have to refuse reaches it recognizably.
func TestDecodeTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	f := func(json, want string) {
		t.Helper()
		in, err := decodeJSON("SendMessage", `{"QueueUrl":"`+json+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.(*sendInput).QueueUrl; got != want {
			t.Errorf("%s is %+q, want %+q", json, got, want)
		}
	}
	f(`\ud800`, "\xed\xa0\x80")
	f(`\uDFFF.`, "\xed\xbf\xbf.")
	f(`\ud800\ud83d\ude00`, "\xed\xa0\x80😀")
	f(`\ude00\ud83d`, "\xed\xb8\x80\xed\xa0\xbd")
	f(`\ud83dx`, "\xed\xa0\xbdx")
	f("\xff\xfe", "\xff\xfe")
	f("\\n\xff", "\n\xff")
	f(`\ufffd\u0000`, "\uFFFD\x00")
}

func TestDecodeJSONRefuses(t *testing.T) {
	t.Parallel()
	f := func(operation, body, want string) {
		t.Helper()
		in, err := decodeJSON(operation, body)
		if err == nil {
			t.Fatalf("%s is accepted as %s", body, show(in))
		}
		if err.Message != want || err.Type != "com.amazon.coral.service#SerializationException" ||
			err.Code != "MalformedInput" || err.Status != 400 {
			t.Errorf("%s is refused with %#v, want %s", body, err, want)
		}
	}
	f("SendMessage", `{"MessageBody":1}`, "NUMBER_VALUE can not be converted to a String")
	f("SendMessage", `{"MessageBody":-1}`, "NUMBER_VALUE can not be converted to a String")
	f("SendMessage", `{"MessageBody":true}`, "TRUE_VALUE can not be converted to a String")
	f("SendMessage", `{"MessageBody":false}`, "FALSE_VALUE can not be converted to a String")
	f("SendMessage", `{"MessageBody":["a"]}`, "Start of list found where not expected")
	f("SendMessage", `{"MessageBody":{}}`, "Start of structure or map found where not expected.")
	f("SendMessage", `{"DelaySeconds":"1"}`, "STRING_VALUE can not be converted to an Integer")
	f("SendMessage", `{"DelaySeconds":true}`, "TRUE_VALUE can not be converted to an Integer")
	f("SendMessage", `{"DelaySeconds":[]}`, "Start of list found where not expected")
	f("SendMessage", `{"DelaySeconds":2147483648}`, "NUMBER_VALUE can not be converted to an Integer")
	f("SendMessage", `{"DelaySeconds":1.0}`, "DECIMAL_VALUE can not be converted to an Integer")
	f("SendMessage", `{"DelaySeconds":1e0}`, "DECIMAL_VALUE can not be converted to an Integer")
	f("SendMessage", `{"Priority":9223372036854775808}`, "NUMBER_VALUE can not be converted to a Long")
	f("Measure", `{"Value":"1"}`, "STRING_VALUE can not be converted to a Double")
	f("Measure", `{"Value":"nan"}`, "STRING_VALUE can not be converted to a Double")
	f("Measure", `{"Value":NaN}`, "The request body is not valid: unexpected 'N' at byte 9.")
	f("Measure", `{"Value":1e999}`, "NUMBER_VALUE can not be converted to a Double")
	f("SendMessage", `{"Urgent":"true"}`, "STRING_VALUE can not be converted to a Boolean")
	f("SendMessage", `{"Note":[]}`, "Start of list found where not expected")
	f("SendMessage", `{"Note":"x"}`, "Expected map or null")
	f("SendMessage", `{"MessageAttributes":[]}`, "Start of list found where not expected")
	f("SendMessage", `{"MessageAttributes":1}`, "Expected map or null")
	f("SendMessage", `{"MessageAttributes":{"a":{"BinaryValue":1}}}`, "NUMBER_VALUE can not be converted to a Blob")
	f("SendMessage", `{"MessageAttributes":{"a":{"BinaryValue":"A"}}}`, "The value of a blob is not valid Base64.")
	f("SendMessage", `{"MessageAttributes":{"a":{"BinaryValue":"AA=="}},"Note":{"BinaryValue":"AAE"}}`,
		"The value of a blob is not valid Base64.")
	f("SendMessage", `{"Note":{"BinaryValue":"AA\n=="}}`, "The value of a blob is not valid Base64.")
	f("SendMessage", `{"Note":{"BinaryValue":"AB=="}}`, "The value of a blob is not valid Base64.")
	f("SendMessage", `{"Note":{"BinaryValue":"_-8="}}`, "The value of a blob is not valid Base64.")
	f("ReceiveMessage", `{"AttributeNames":"All"}`, "Expected list or null")
	f("ReceiveMessage", `{"AttributeNames":{}}`, "Start of structure or map found where not expected.")
	f("ReceiveMessage", `{"AttributeNames":[["All"]]}`, "Start of list found where not expected")
	f("ReceiveMessage", `{"AttributeNames":["All",null]}`, "NULL_VALUE found in a list")

	f("SendMessage", ``, "The request body is not valid: it ends after 0 bytes.")
	f("SendMessage", `{`, "The request body is not valid: it ends after 1 bytes.")
	f("SendMessage", `[]`, "Start of list found where not expected")
	f("SendMessage", `"x"`, "Expected map or null")
	f("SendMessage", `null`, "The request body is not valid: unexpected 'n' at byte 0.")
	f("SendMessage", `{}x`, "The request body is not valid: unexpected 'x' at byte 2.")
	f("SendMessage", "{}\x00", "The request body is not valid: unexpected '\\x00' at byte 2.")
	f("SendMessage", `{"a":1,}`, "The request body is not valid: unexpected '}' at byte 7.")
	f("SendMessage", `{,"a":1}`, "The request body is not valid: unexpected ',' at byte 1.")
	f("SendMessage", `{"a" 1}`, "The request body is not valid: unexpected '1' at byte 5.")
	f("SendMessage", `{a:1}`, "The request body is not valid: unexpected 'a' at byte 1.")
	f("SendMessage", `{"a":01}`, "The request body is not valid: unexpected '1' at byte 6.")
	f("SendMessage", `{"a":+1}`, "The request body is not valid: unexpected '+' at byte 5.")
	f("SendMessage", `{"a":1.}`, "The request body is not valid: unexpected '}' at byte 7.")
	f("SendMessage", `{"a":[1,]}`, "The request body is not valid: unexpected ']' at byte 8.")
	f("SendMessage", `{"a":nul}`, "The request body is not valid: unexpected '}' at byte 8.")
	f("SendMessage", `{"a":"\x"}`, "The request body is not valid: unexpected 'x' at byte 7.")
	f("SendMessage", `{"a":"\u12g4"}`, "The request body is not valid: unexpected 'g' at byte 10.")
	f("SendMessage", "{\"a\":\"\n\"}", "The request body is not valid: unexpected '\\n' at byte 6.")
	f("SendMessage", `{"a":"`, "The request body is not valid: it ends after 6 bytes.")
	f("SendMessage", `{"a":`+strings.Repeat("[", 100000), "The request body nests more than 100 levels deep.")
}

func TestDecodeQueryRefuses(t *testing.T) {
	t.Parallel()
	f := func(operation, parameters, code, want string) {
		t.Helper()
		in, err := decodeQuery(operation, parameters)
		if err == nil {
			t.Fatalf("%s is accepted as %s", parameters, show(in))
		}
		if err.Code != code || err.Message != want {
			t.Errorf("%s is refused with %v, want %s: %s", parameters, err, code, want)
		}
	}
	f("Measure", "Value=nan", "InvalidParameterValue",
		"Value nan for parameter Value is invalid. Reason: Must be a number.")
	f("Measure", "Value=1e999", "InvalidParameterValue",
		"Value 1e999 for parameter Value is invalid. Reason: Must be a number.")
	f("Measure", "Value=0x1p2", "InvalidParameterValue",
		"Value 0x1p2 for parameter Value is invalid. Reason: Must be a number.")
	f("CreateQueue", "Attribute.1.Name=a", "MissingParameter",
		"The request must contain the parameter Attribute.1.Value.")
	f("CreateQueue", "Attribute.1.Value=a", "MissingParameter",
		"The request must contain the parameter Attribute.1.Name.")
	f("CreateQueue", "Attribute.Name=a", "MissingParameter", "The request must contain the parameter Attribute.Value.")
	f("CreateQueue", "Tags.3.Key=a", "MissingParameter", "The request must contain the parameter Tags.3.Value.")
	f("SendMessageBatch", "SendMessageBatchRequestEntry.1.MessageAttribute.2.Value.DataType=String", "MissingParameter",
		"The request must contain the parameter SendMessageBatchRequestEntry.1.MessageAttribute.2.Name.")
	f("Wrapped", "Pairs.entry.1.key=a", "MissingParameter",
		"The request must contain the parameter Pairs.entry.1.value.")
	f("SendMessage", "DelaySeconds=x", "InvalidParameterValue",
		"Value x for parameter DelaySeconds is invalid. Reason: Must be an integer.")
	f("SendMessage", "DelaySeconds=", "InvalidParameterValue",
		"Value  for parameter DelaySeconds is invalid. Reason: Must be an integer.")
	f("SendMessage", "DelaySeconds=2147483648", "InvalidParameterValue",
		"Value 2147483648 for parameter DelaySeconds is invalid. Reason: Must be an integer.")
	f("SendMessage", "Urgent=maybe", "InvalidParameterValue",
		"Value maybe for parameter Urgent is invalid. Reason: Must be true or false.")
	f("SendMessage", "Note.BinaryValue=A", "InvalidParameterValue",
		"Value A for parameter Note.BinaryValue is invalid. Reason: Must be valid Base64.")
	f("ReceiveMessage", "AttributeName.99999999999=a", "InvalidParameterValue",
		"The index of the parameter AttributeName.99999999999 is too large.")
	f("SendMessage", "MessageBody=100%", "MalformedQueryString",
		"The value of the parameter MessageBody has a percent sign that two hexadecimal digits do not follow.")
	f("SendMessage", "Mess%2xageBody=x", "MalformedQueryString",
		"The name of a parameter has a percent sign that two hexadecimal digits do not follow.")
	f("SendMessage", strings.Repeat("&", 10000), "InvalidRequest", "The request has more than 10000 parameters.")
}

// TestDecodeCopies checks that an input neither changes with nor keeps alive the buffer of the body.
func TestDecodeCopies(t *testing.T) {
	t.Parallel()
	s := newService()
	body := []byte(`{"QueueUrl":"aaaa","MessageAttributes":{"aaaa":{"DataType":"aaaa"}}}`)
	req, err := protocol.Recognise(post("SendMessage", ""), body)
	if err != nil {
		t.Fatal(err)
	}
	in, err := operation(t, s, "SendMessage").Decode(req)
	if err != nil {
		t.Fatal(err)
	}
	clear(body)
	want := &sendInput{QueueUrl: "aaaa", MessageAttributes: map[string]attributeValue{"aaaa": {DataType: "aaaa"}}}
	if !reflect.DeepEqual(in, want) {
		t.Errorf("the input has become %s", show(in))
	}
}

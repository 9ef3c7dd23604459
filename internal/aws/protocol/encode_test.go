package protocol_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

const requestID = "2b1f5e1c-55f6-4c4f-a0c6-6d8f2c6a0b3e"

// TestWriteResult writes one output in all three forms.
func TestWriteResult(t *testing.T) {
	t.Parallel()
	s := newService()
	for _, c := range []struct {
		about     string
		operation string
		out       any
		json      string
		xml       string // inside the response element
		queryJSON string // likewise
	}{{
		"no output", "DeleteQueue", &nothing{},
		``,
		``,
		``,
	}, {
		"nothing to say", "ReceiveMessage", &receiveOutput{Messages: []message{}},
		`{}`,
		`<ReceiveMessageResult/>`,
		`"ReceiveMessageResult":{"messages":null},`,
	}, {
		"scalars", "SendMessage", &sendOutput{MessageId: "1"},
		`{"MessageId":"1"}`,
		`<SendMessageResult><MessageId>1</MessageId></SendMessageResult>`,
		`"SendMessageResult":{"MessageId":"1","MD5OfMessageAttributes":null,"SequenceNumber":null},`,
	}, {
		"optional members", "SendMessage", &sendOutput{MD5OfMessageAttributes: p(""), SequenceNumber: "7"},
		`{"MessageId":"","MD5OfMessageAttributes":"","SequenceNumber":"7"}`,
		`<SendMessageResult><MessageId/><MD5OfMessageAttributes/><SequenceNumber>7</SequenceNumber></SendMessageResult>`,
		`"SendMessageResult":{"MessageId":"","MD5OfMessageAttributes":"","SequenceNumber":"7"},`,
	}, {
		"messages", "ReceiveMessage", &receiveOutput{Messages: []message{{
			MessageId:  "1",
			Body:       "<a href=\"x\">'&\r\n\tü</a>",
			Attributes: map[string]string{"b": "2", "a": "1", "c": "3"},
			MessageAttributes: map[string]attributeValue{
				"n": {DataType: "Number", StringValue: p("1")},
				"b": {DataType: "Binary", BinaryValue: []byte{0xfb, 0xff}},
			},
			Hidden: "h",
		}, {
			MessageId: "2",
		}}},
		`{"Messages":[{"MessageId":"1","Body":"<a href=\"x\">'&\r\n\tü</a>","Attributes":{"a":"1","b":"2","c":"3"},` +
			`"MessageAttributes":{"b":{"BinaryValue":"+/8=","DataType":"Binary"},"n":{"StringValue":"1","DataType":"Number"}},` +
			`"Hidden":"h"},{"MessageId":"2","Body":""}]}`,
		`<ReceiveMessageResult><Message><MessageId>1</MessageId><Body>&lt;a href=&quot;x&quot;&gt;'&amp;&#xD;` +
			"\n\t" + `ü&lt;/a&gt;</Body>` +
			`<Attribute><Name>a</Name><Value>1</Value></Attribute><Attribute><Name>b</Name><Value>2</Value></Attribute>` +
			`<Attribute><Name>c</Name><Value>3</Value></Attribute>` +
			`<MessageAttribute><Name>b</Name><Value><BinaryValue>+/8=</BinaryValue><DataType>Binary</DataType></Value></MessageAttribute>` +
			`<MessageAttribute><Name>n</Name><Value><StringValue>1</StringValue><DataType>Number</DataType></Value></MessageAttribute>` +
			`</Message><Message><MessageId>2</MessageId><Body/></Message></ReceiveMessageResult>`,
		`"ReceiveMessageResult":{"messages":[{"MessageId":"1","Body":"<a href=\"x\">'&\r\n\tü</a>",` +
			`"Attributes":[{"Name":"a","Value":"1"},{"Name":"b","Value":"2"},{"Name":"c","Value":"3"}],` +
			`"MessageAttributes":[{"Name":"b","Value":{"StringValue":null,"BinaryValue":"+/8=","StringListValues":null,"BinaryListValues":null,"DataType":"Binary"}},` +
			`{"Name":"n","Value":{"StringValue":"1","BinaryValue":null,"StringListValues":null,"BinaryListValues":null,"DataType":"Number"}}],"Padding":null},` +
			`{"MessageId":"2","Body":"","Attributes":null,"MessageAttributes":null,"Padding":null}]},`,
	}, {
		"wrapped collections", "Wrapped", &wrappedOutput{
			Names: []string{"a", "b"}, Pairs: map[string]string{"k": "v"}, Flat: []string{"c", "d"}, Count: -1,
			Done: true,
		},
		`{"Names":["a","b"],"Pairs":{"k":"v"},"flat":["c","d"],"Count":-1,"Done":true}`,
		`<WrappedResult><Names><member>a</member><member>b</member></Names><Pairs><entry><key>k</key><value>v</value></entry></Pairs>` +
			`<flat>c</flat><flat>d</flat><Count>-1</Count><Done>true</Done></WrappedResult>`,
		`"WrappedResult":{"Names":["a","b"],"Pairs":[{"key":"k","value":"v"}],"flat":["c","d"],"Count":-1,"Done":true},`,
	}, {
		"members that are always written", "Wrapped", &wrappedOutput{},
		`{"Names":[],"flat":[],"Count":0,"Done":false}`,
		`<WrappedResult><Names/><Count>0</Count><Done>false</Done></WrappedResult>`,
		`"WrappedResult":{"Names":[],"Pairs":null,"flat":[],"Count":0,"Done":false},`,
	}, {
		"text that the protocols cannot express", "SendMessage",
		&sendOutput{MessageId: "\x00\x1f\x7f \xff\xed\xa0\x80 \ufffe\uffff\ufffd"},
		`{"MessageId":"\u0000\u001f` + "\x7f" + ` � ` + "\ufffe\uffff\ufffd" + `"}`,
		"<SendMessageResult><MessageId>\ufffd\ufffd\x7f \ufffd\ufffd\ufffd\ufffd \ufffd\ufffd\ufffd</MessageId></SendMessageResult>",
		`"SendMessageResult":{"MessageId":"\u0000\u001f` + "\x7f" + ` � ` + "\ufffe\uffff\ufffd" +
			`","MD5OfMessageAttributes":null,"SequenceNumber":null},`,
	}} {
		op := operation(t, s, c.operation)
		f := func(req *protocol.Request, contentType, want string) {
			t.Helper()
			w := httptest.NewRecorder()
			if err := protocol.WriteResult(w, s, req, op, requestID, c.out); err != nil {
				t.Fatal(err)
			}
			if got := w.Body.String(); got != want {
				t.Errorf("%s:\n got %s\nwant %s", c.about, got, want)
			}
			checkHeaders(t, w, 200, contentType)
		}
		f(&protocol.Request{Kind: protocol.JSON, ContentType: "application/x-amz-json-1.1"},
			"application/x-amz-json-1.1", c.json)
		f(&protocol.Request{Version: "2009-02-01"}, "text/xml", `<?xml version="1.0"?><`+c.operation+
			`Response xmlns="http://queue.amazonaws.com/doc/2009-02-01/">`+c.xml+
			`<ResponseMetadata><RequestId>`+requestID+`</RequestId></ResponseMetadata></`+c.operation+`Response>`)
		f(&protocol.Request{AcceptJSON: true}, "application/json", `{"`+c.operation+`Response":{`+c.queryJSON+
			`"ResponseMetadata":{"RequestId":"`+requestID+`"}}}`)
	}
}

// TestWriteError writes errors in all three forms.
func TestWriteError(t *testing.T) {
	t.Parallel()
	nonExistent := &protocol.Error{
		Code: "AWS.SimpleQueueService.NonExistentQueue", Type: "QueueDoesNotExist", Status: 400,
		Message:      "The specified queue does not exist.",
		QueryMessage: "The specified queue does not exist for this wsdl version.",
	}
	s := newService()
	for _, c := range []struct {
		err        *protocol.Error
		status     int
		json       string
		queryError string
		xml        string
		queryJSON  string
	}{{
		nonExistent, 400,
		`{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."}`,
		"AWS.SimpleQueueService.NonExistentQueue;Sender",
		xmlError("Sender", "AWS.SimpleQueueService.NonExistentQueue",
			"The specified queue does not exist for this wsdl version."),
		`{"Error":{"Code":"AWS.SimpleQueueService.NonExistentQueue","Detail":null,` +
			`"Message":"The specified queue does not exist for this wsdl version.","Type":"Sender"},"RequestId":"` +
			requestID + `"}`,
	}, {
		protocol.AccessDenied("Not %s.", "you"), 403,
		`{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"Not you."}`,
		"AccessDenied;Sender",
		xmlError("Sender", "AccessDenied", "Not you."),
		`{"Error":{"Code":"AccessDenied","Detail":null,"Message":"Not you.","Type":"Sender"},"RequestId":"` +
			requestID + `"}`,
	}, {
		protocol.AsError(errors.New("disk on fire")), 500,
		`{"__type":"com.amazon.coral.service#InternalFailure","message":"We encountered an internal error. Please try again."}`,
		"InternalError;Receiver",
		xmlError("Receiver", "InternalError", "We encountered an internal error. Please try again."),
		`{"Error":{"Code":"InternalError","Detail":null,"Message":"We encountered an internal error. Please try again.","Type":"Receiver"},` +
			`"RequestId":"` + requestID + `"}`,
	}, {
		&protocol.Error{Code: "InvalidIdFormat", Type: "com.amazonaws.sqs#InvalidIdFormat", Status: 400}, 400,
		`{"__type":"com.amazonaws.sqs#InvalidIdFormat"}`,
		"InvalidIdFormat;Sender",
		`<?xml version="1.0"?><ErrorResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/"><Error><Type>Sender</Type>` +
			`<Code>InvalidIdFormat</Code><Message/><Detail/></Error><RequestId>` + requestID +
			`</RequestId></ErrorResponse>`,
		`{"Error":{"Code":"InvalidIdFormat","Detail":null,"Message":"","Type":"Sender"},"RequestId":"` + requestID +
			`"}`,
	}, {
		protocol.UnknownRequest(), 404,
		`{"__type":"com.amazon.coral.service#UnknownOperationException","message":"The request does not name an operation."}`,
		"UnknownOperationException;Sender",
		`<UnknownOperationException/>`,
		`<UnknownOperationException/>`,
	}} {
		f := func(req *protocol.Request, contentType, want string) http.Header {
			t.Helper()
			w := httptest.NewRecorder()
			if err := protocol.WriteError(w, s, req, requestID, c.err); err != nil {
				t.Fatal(err)
			}
			if got := w.Body.String(); got != want {
				t.Errorf("%v:\n got %s\nwant %s", c.err, got, want)
			}
			checkHeaders(t, w, c.status, contentType)
			return w.Header()
		}
		h := f(&protocol.Request{Kind: protocol.JSON, ContentType: "application/x-amz-json-1.0"},
			"application/x-amz-json-1.0", c.json)
		if got := h.Get("x-amzn-query-error"); got != c.queryError {
			t.Errorf("x-amzn-query-error is %q, want %q", got, c.queryError)
		}
		f(&protocol.Request{Version: "no version"}, "text/xml", c.xml)
		contentType := "application/json"
		if c.err.Bare {
			contentType = "text/xml"
		}
		f(&protocol.Request{AcceptJSON: true}, contentType, c.queryJSON)
	}
}

func xmlError(fault, code, message string) string {
	return `<?xml version="1.0"?><ErrorResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/"><Error><Type>` +
		fault +
		`</Type><Code>` + code + `</Code><Message>` + message + `</Message><Detail/></Error><RequestId>` + requestID +
		`</RequestId></ErrorResponse>`
}

// TestWriteErrorWithoutService answers requests that have reached no service, or are not requests.
func TestWriteErrorWithoutService(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	protocol.WriteError(w, nil, nil, requestID, protocol.RequestEntityTooLarge(1<<20))
	checkHeaders(t, w, 413, "text/xml")
	want := `<?xml version="1.0"?><ErrorResponse><Error><Type>Sender</Type><Code>RequestEntityTooLarge</Code>` +
		`<Message>The request must not be longer than 1048576 bytes.</Message></Error><RequestId>` + requestID +
		`</RequestId></ErrorResponse>`
	if got := w.Body.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestWriteErrorOfServiceWithoutQuery omits the header that tells JSON clients the Query code.
func TestWriteErrorOfServiceWithoutQuery(t *testing.T) {
	t.Parallel()
	s := protocol.NewService(protocol.Service{Name: "cloudtrail", Target: "CloudTrail_20131101"})
	w := httptest.NewRecorder()
	protocol.WriteError(w, s, &protocol.Request{Kind: protocol.JSON, ContentType: "application/x-amz-json-1.1"},
		requestID, protocol.ServiceUnavailable())
	checkHeaders(t, w, 503, "application/x-amz-json-1.1")
	if h, ok := w.Header()["X-Amzn-Query-Error"]; ok {
		t.Errorf("x-amzn-query-error is %q", h)
	}
}

func checkHeaders(t *testing.T, w *httptest.ResponseRecorder, status int, contentType string) {
	t.Helper()
	h := w.Header()
	if w.Code != status || h.Get("Content-Type") != contentType || h.Get("x-amzn-RequestId") != requestID ||
		h.Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
		t.Errorf("the answer has status %d and header %v, want %d and %s", w.Code, h, status, contentType)
	}
}

// gone is a client that has left.
type gone struct{ discard }

func (gone) Write([]byte) (int, error) { return 0, http.ErrHandlerTimeout }

func TestWriteToClientThatHasGone(t *testing.T) {
	t.Parallel()
	s := newService()
	w := gone{discard{http.Header{}}}
	req := &protocol.Request{}
	if err := protocol.WriteResult(w, s, req, operation(t, s, "DeleteQueue"), requestID, &nothing{}); !errors.Is(err,
		http.ErrHandlerTimeout) {
		t.Errorf("WriteResult returns %v", err)
	}
	if err := protocol.WriteError(w, s, req, requestID, protocol.InternalError()); !errors.Is(err,
		http.ErrHandlerTimeout) {
		t.Errorf("WriteError returns %v", err)
	}
}

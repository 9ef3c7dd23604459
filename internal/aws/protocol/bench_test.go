package protocol_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

const kilobyte = 1024

// BenchmarkDecode measures decoding a SendMessage with a body of 1 KiB and two message attributes.
func BenchmarkDecode(b *testing.B) {
	jsonText := strings.Repeat(`{\"id\":12345,\"name\":\"sluice\"}`, 34)[:kilobyte]
	jsonBody := func(text string) string {
		return `{"QueueUrl":"http://localhost:9324/000000000000/orders","MessageBody":"` + text +
			`","DelaySeconds":5,"MessageAttributes":` +
			`{"color":{"StringValue":"blue","DataType":"String"},"size":{"StringValue":"12","DataType":"Number"}}}`
	}
	formBody := "Action=SendMessage&Version=2012-11-05&QueueUrl=http%3A%2F%2Flocalhost%3A9324%2F000000000000%2Forders&DelaySeconds=5" +
		"&MessageAttribute.1.Name=color&MessageAttribute.1.Value.StringValue=blue&MessageAttribute.1.Value.DataType=String" +
		"&MessageAttribute.2.Name=size&MessageAttribute.2.Value.StringValue=12&MessageAttribute.2.Value.DataType=Number" +
		"&MessageBody="
	s := newService()
	for _, c := range []struct {
		name string
		r    *http.Request
		body string
	}{
		{"JSON/bare", post("SendMessage", ""),
			`{"QueueUrl":"http://localhost:9324/000000000000/orders","MessageBody":"` + strings.Repeat("x", kilobyte) +
				`"}`},
		{"JSON/plain", post("SendMessage", ""), jsonBody(strings.Repeat("x", kilobyte))},
		{"JSON/escaped", post("SendMessage", ""), jsonBody(jsonText[:strings.LastIndex(jsonText, `\"`)])},
		{"Query/plain", form(""), formBody + strings.Repeat("x", kilobyte)},
		{"Query/escaped", form(""), formBody + url.QueryEscape(strings.Repeat(`{"id":12345,"name":"sluice"}`, 36))},
	} {
		b.Run(c.name, func(b *testing.B) {
			body := []byte(c.body)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				req, err := protocol.Recognise(c.r, body)
				if err != nil {
					b.Fatal(err)
				}
				op, err := s.Lookup(req)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := op.Decode(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// discard is a client that accepts every answer.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkEncode measures writing ten received messages of 1 KiB with two attributes each.
func BenchmarkEncode(b *testing.B) {
	var out receiveOutput
	for i := range 10 {
		out.Messages = append(out.Messages, message{
			MessageId: fmt.Sprintf("4c6f7a1e-7f0a-4a43-9d83-1a40c1d5e0%02d", i),
			Body: strings.Repeat(`{"id":12345,"name":"sluice"}, and some more text without quotes. `,
				16)[:kilobyte],
			Attributes: map[string]string{
				"SentTimestamp": "1700000000000", "ApproximateReceiveCount": "1",
			},
		})
	}
	s := newService()
	op := operation(b, s, "ReceiveMessage")
	for name, req := range map[string]*protocol.Request{
		"JSON":      {Kind: protocol.JSON},
		"XML":       {},
		"QueryJSON": {AcceptJSON: true},
	} {
		b.Run(name, func(b *testing.B) {
			w := discard{http.Header{}}
			b.SetBytes(10 * kilobyte)
			b.ReportAllocs()
			for b.Loop() {
				protocol.WriteResult(w, s, req, op, "2b1f5e1c-55f6-4c4f-a0c6-6d8f2c6a0b3e", &out)
			}
		})
	}
}

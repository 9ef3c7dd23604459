package protocol_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// A value that is longer than its field allows is refused in both protocols, by the path of the field; a value of
// exactly that length is accepted.
func TestLimits(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	blob := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for _, c := range []struct {
		operation string
		json      func(n int) string
		query     func(n int) string
		most      int
		want      string
	}{
		{"SendMessage", func(n int) string { return `{"QueueUrl":"` + long(n) + `"}` },
			func(n int) string { return "QueueUrl=" + long(n) }, 2048, "QueueUrl: at most 2048 characters"},
		{"SendMessage", func(n int) string { return `{"QueueUrl":"` + strings.Repeat(`\ud83d\ude00`, n) + `"}` },
			func(n int) string { return "QueueUrl=" + url.QueryEscape(strings.Repeat("😀", n)) }, 2048,
			"QueueUrl: at most 2048 characters"},
		{"SendMessage", func(n int) string { return `{"Note":{"DataType":"` + long(n) + `"}}` },
			func(n int) string { return "Note.DataType=" + long(n) }, 256, "Note.DataType: at most 256 characters"},
		{"SendMessage", func(n int) string { return `{"Note":{"BinaryValue":"` + blob(n) + `"}}` },
			func(n int) string { return "Note.BinaryValue=" + url.QueryEscape(blob(n)) }, 1 << 20,
			"Note.BinaryValue: at most 1048576 bytes"},
		{"SendMessage", func(n int) string { return `{"MessageAttributes":{"` + long(n) + `":{"DataType":"String"}}}` },
			func(n int) string {
				return "MessageAttribute.1.Name=" + long(n) + "&MessageAttribute.1.Value.DataType=String"
			}, 256, "MessageAttributes.key: at most 256 characters"},
		{"SendMessage", func(n int) string { return `{"MessageAttributes":{"a":{"DataType":"` + long(n) + `"}}}` },
			func(n int) string {
				return "MessageAttribute.1.Name=a&MessageAttribute.1.Value.DataType=" + long(n)
			}, 256, "MessageAttributes.value.DataType: at most 256 characters"},
		{"SendMessageBatch", func(n int) string { return `{"Entries":[{},{"Id":"` + long(n) + `"}]}` },
			func(n int) string {
				return "SendMessageBatchRequestEntry.1.Id=a&SendMessageBatchRequestEntry.2.Id=" + long(n)
			}, 80, "Entries.2.Id: at most 80 characters"},
		{"CreateQueue", func(n int) string { return `{"tags":{"k":"` + long(n) + `"}}` },
			func(n int) string { return "Tag.1.Key=k&Tag.1.Value=" + long(n) }, 256,
			"tags.value: at most 256 characters"},
		{"ReceiveMessage", func(n int) string { return `{"AttributeNames":["a","` + long(n) + `"]}` },
			func(n int) string { return "AttributeName.1=a&AttributeName.2=" + long(n) }, 256,
			"AttributeNames.2: at most 256 characters"},
		{"ReceiveMessage", func(n int) string { return `{"AttributeNames":[` + strings.Repeat(`"x",`, n-1) + `"x"]}` },
			func(n int) string { return numbered("AttributeName.%d=x", n) }, 1000,
			"AttributeNames: at most 1000 entries"},
		{"CreateQueue", func(n int) string {
			return `{"tags":{` + strings.TrimPrefix(strings.ReplaceAll(numbered(`"%d":""`, n), "&", ","), ",") + `}}`
		}, func(n int) string { return numbered("Tag.%[1]d.Key=%[1]d&Tag.%[1]d.Value=", n) }, 1000,
			"tags: at most 1000 entries"},
	} {
		for kind, decode := range map[string]func(n int) (any, *protocol.Error){
			"json":  func(n int) (any, *protocol.Error) { return decodeJSON(c.operation, c.json(n)) },
			"query": func(n int) (any, *protocol.Error) { return decodeQuery(c.operation, c.query(n)) },
		} {
			if _, err := decode(c.most); err != nil {
				t.Errorf("%s: a value of the maximum length is refused with %v, where the limit says %q", kind, err,
					c.want)
			}
			if _, err := decode(c.most + 1); err == nil || err.Code != "TooLong" || err.Message != c.want {
				t.Errorf("%s: a value that is too long is refused with %v, want %q", kind, err, c.want)
			}
		}
	}
}

// numbered returns format for each number from 1 to n, separated by "&".
func numbered(format string, n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i+1)
	}
	return strings.Join(parts, "&")
}

// A service without its own error refuses in the words of AWS's framework, and repeats a bounded part of the value.
func TestTooLongWithoutServiceError(t *testing.T) {
	t.Parallel()
	s := protocol.NewService(protocol.Service{Name: "iam", Target: "IAM", Versions: []string{"2010-05-08"}})
	protocol.Register(s, "Echo", handle[wrappedInput, nothing])
	for _, c := range []struct{ json, query, want string }{
		{`{"Names":["` + strings.Repeat("n", 1025) + `"]}`, "Names.member.1=" + strings.Repeat("n", 1025),
			"1 validation error detected: Value '" + strings.Repeat("n", 1024) +
				"...' at 'names.1.member' failed to satisfy constraint: Member must have length less than or equal to 256"},
		{`{"Tags":[{"Key":"` + strings.Repeat("k", 129) + `"}]}`, "Tags.member.1.Key=" + strings.Repeat("k", 129),
			"1 validation error detected: Value '" + strings.Repeat("k", 129) +
				"' at 'tags.1.member.key' failed to satisfy constraint: Member must have length less than or equal to 128"},
	} {
		for _, r := range []struct{ target, body string }{{"IAM.Echo", c.json}, {"", "Action=Echo&" + c.query}} {
			request := formRequest(r.body)
			if r.target != "" {
				request = jsonRequest(r.target, r.body)
			}
			_, _, err := decode(s, request, r.body)
			if err == nil || err.Code != "ValidationError" || err.Message != c.want {
				t.Errorf("%.60s is refused with %v, want %s", r.body, err, c.want)
			}
		}
	}
}

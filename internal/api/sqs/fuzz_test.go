package sqs

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/big"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

const account = "000000000000"

// Only sealed handles open, and only for their queue.
func FuzzReceiptHandle(f *testing.F) {
	s, stranger := newSealer([]byte("secret"), nil), newSealer([]byte("another secret"), nil)
	f.Add(uint64(1), uint64(1), uint64(1), uint16(0), byte('x'), "")
	f.Add(uint64(7), uint64(1)<<63|5, uint64(1)<<40, uint16(54), byte('A'),
		s.seal(7, queue.Receipt{Position: 5, Number: 2}, handles))
	f.Add(^uint64(0), ^uint64(0), ^uint64(0), uint16(20), byte('\n'),
		stranger.seal(7, queue.Receipt{Position: 5, Number: 2}, handles))
	earlier := s.seal(7, queue.Receipt{Position: 5, Number: 2}, earlierHandles)
	f.Add(uint64(7), uint64(5), uint64(2), uint16(55), byte('A'), earlier)
	f.Add(uint64(0), uint64(0), uint64(0), uint16(1), byte('='), strings.Repeat("A", 55))
	f.Add(uint64(0), uint64(0), uint64(0), uint16(1), byte('-'), strings.Repeat("A", 55)+"=")
	f.Add(uint64(3), uint64(0), uint64(0), uint16(1), byte('+'), strings.Repeat("/", 54)+"\r\n")
	f.Add(uint64(2), uint64(3), uint64(4), uint16(30), byte(0), "AQAAAA\r\n"+strings.Repeat("A", 47))
	given := s.seal(7, queue.Receipt{Position: 5, Number: 2}, handles)
	f.Fuzz(func(t *testing.T, q, position, number uint64, at uint16, replace byte, made string) {
		id, receipt := queue.ID(q), queue.Receipt{Position: queue.Position(position), Number: number}
		both := []string{s.seal(id, receipt, handles), s.seal(id, receipt, earlierHandles)}
		if strings.Contains(both[0], "-") {
			t.Errorf("%s has a hyphen", both[0])
		}
		for _, handle := range both {
			if got, ok := s.open(id, handle); !ok || got != receipt {
				t.Fatalf("%+v became %+v, %v", receipt, got, ok)
			}
			if _, ok := s.open(id+1, handle); ok {
				t.Fatal("a handle opens for another queue")
			}
			if _, ok := stranger.open(id, handle); ok {
				t.Fatal("a handle opens with another secret")
			}
			changed := []byte(handle)
			changed[int(at)%len(changed)] = replace
			if _, ok := s.open(id, string(changed)); ok && string(changed) != handle {
				t.Fatalf("%s opens like %s", changed, handle)
			}
		}
		for _, id := range []queue.ID{id, 7} {
			if _, ok := s.open(id, made); ok && !slices.Contains(append(both, given, earlier), made) {
				t.Fatalf("%q, a forgery, opens", made)
			}
		}
	})
}

var numberSyntax = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// isNumber is a slow and obviously correct validNumber.
func isNumber(s string) bool {
	if !numberSyntax.MatchString(s) {
		return false
	}
	mantissa := strings.FieldsFunc(s, func(r rune) bool { return r == 'e' || r == 'E' })[0]
	digits, ok := new(big.Int).SetString(strings.Replace(strings.TrimLeft(mantissa, "+-"), ".", "", 1), 10)
	if !ok {
		return false
	}
	if digits.Sign() == 0 {
		return true
	}
	ten, rest := big.NewInt(10), new(big.Int)
	for {
		quotient, rest := new(big.Int).QuoRem(digits, ten, rest)
		if rest.Sign() != 0 {
			break
		}
		digits = quotient
	}
	if e := strings.IndexAny(s, "eE"); e >= 0 && len(strings.TrimLeft(s[e+1:], "+-0")) > 5 {
		return false // which would take isNumber too long
	}
	const precision = 4096
	parse := func(s string) *big.Float {
		x, _, err := big.ParseFloat(s, 10, precision, big.ToNearestEven)
		if err != nil {
			return new(big.Float).SetInf(false) // its exponent is out of range
		}
		return x.Abs(x)
	}
	x := parse(s)
	return len(digits.String()) <= 38 && x.Cmp(parse("1e-128")) >= 0 && x.Cmp(parse("1e126")) <= 0
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{
		"0", "-0.0", "1", "+1", "-+1", "+-1", "000123456", "12.50", ".5", "5.", ".", "", "-", "e5", "1e", "1e+",
		"1e+-5", "1E5", "1e05", "1e00000126",
		"1e126", "1.0e126", "1.1e126", "9e126", "1e127", "10e125", "1e-128", "9e-129", "0.1e-127", "0e99999", "1e99999",
		"1e-99999", "1e18446744073709551616",
		strings.Repeat("9", 38), strings.Repeat("9", 39), strings.Repeat("9", 38) + "000",
		"0." + strings.Repeat("0", 127) + "1",
		"1" + strings.Repeat("0", 126), "1_000", "0x10", "Inf", "NaN", "1 ", " 1", "1,5", "１", "1e1e1", "1.2.3",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 500 {
			t.Skip("beyond the precision of the comparison")
		}
		if got, want := service.ValidNumber(s), isNumber(s); got != want {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
	})
}

// Text that passes the check can be stored, counted and displayed.
func FuzzMessageAttribute(f *testing.F) {
	f.Add("color", "String", "blue", []byte(nil), true, false)
	f.Add("count", "Number.int", "3", []byte(nil), true, false)
	f.Add("blob", "Binary.png", "", []byte{1, 2, 3}, false, true)
	f.Add("AWS.x", "String", "x", []byte{}, true, true)
	f.Add("attr.1øßä", "String.✓", "x", []byte{}, true, false)
	f.Add("a..b", "", "", []byte{}, false, false)
	f.Add("\xff", "Binary\x00", "\xff", []byte{0}, true, true)
	f.Fuzz(func(t *testing.T, name, dataType, value string, blob []byte, isString, isBinary bool) {
		v := attributeValue{DataType: dataType}
		if isString {
			v.StringValue = &value
		}
		if isBinary {
			v.BinaryValue = append([]byte{}, blob...)
		}
		out, size, err := checkAttributes(map[string]attributeValue{name: v})
		if err != nil {
			if e := protocol.AsError(err); e.Status != 400 || e.Message == "" {
				t.Fatalf("refused with %+v", e)
			}
			return
		}
		a := out[0]
		base, _, _ := strings.Cut(dataType, ".")
		switch {
		case isString == isBinary || isBinary != (base == "Binary"):
			t.Fatalf("%+v passes with the wrong values", a)
		case a.Name != name || a.Type != dataType || a.Value == "" || size != len(name)+len(dataType)+len(a.Value):
			t.Fatalf("%+v counts for %d bytes", a, size)
		case !utf8.ValidString(name+dataType) || isString && !utf8.ValidString(a.Value):
			t.Fatalf("%+v is not text", a)
		case strings.HasPrefix(strings.ToLower(name), "aws.") || strings.HasPrefix(strings.ToLower(name), "amazon.") ||
			len(name) > 256 || len(dataType) > 256:
			t.Fatalf("%+v passes", a)
		case base == "Number" && len(value) < 500 && !isNumber(value):
			t.Fatalf("%+v is not a number", a)
		case len(attributesMD5(out)) != 32:
			t.Fatalf("%+v has the digest %q", a, attributesMD5(out))
		}
	})
}

func FuzzRedrivePolicy(f *testing.F) {
	arn := "arn:aws:sqs:us-east-1:" + account + ":"
	for _, s := range []string{
		``, `{}`, `null`, `[]`, `{"deadLetterTargetArn":"` + arn + `dlq","maxReceiveCount":5}`,
		`{"maxReceiveCount":"1000","deadLetterTargetArn":"` + arn + `dlq"}`,
		`{"deadLetterTargetArn":"` + arn + `q","maxReceiveCount":1,"x":{}}`,
		`{"deadLetterTargetArn":"` + arn + `dlq","maxReceiveCount":"\u0035"}`,
		`{"deadLetterTargetArn":"arn:aws-cn:sqs:us-east-1:` + account + `:dlq","maxReceiveCount":"+07"}`,
		`{"deadLetterTargetArn":[],"maxReceiveCount":{}}`,
	} {
		f.Add(s)
	}
	name := catalog.Name{Account: account, Region: "us-east-1", Queue: "q"}
	set := func(value string) (*catalog.Redrive, error) {
		ch := changeOf(name)
		ch.findQueue = func(n catalog.Name) *catalog.Queue {
			if n.Queue == "dlq" {
				return &catalog.Queue{Name: n}
			}
			return nil
		}
		err := ch.setRedrive(value)
		return ch.attrs.Redrive, err
	}
	f.Fuzz(func(t *testing.T, value string) {
		r, err := set(value)
		switch {
		case err != nil:
			if protocol.AsError(err).Code != "InvalidParameterValue" {
				t.Fatalf("%q is refused with %v", value, err)
			}
			return
		case value == "":
			return
		}
		if !json.Valid([]byte(value)) || r.MaxReceiveCount < 1 || r.MaxReceiveCount > 1000 ||
			r.Target != arn+"dlq" && r.Target != arn+"q" {
			t.Fatalf("%q becomes %+v", value, r)
		}
		again, err := set(formatRedrive(r))
		if err != nil || *again != *r {
			t.Fatalf("%q becomes %+v and then %+v, %v", value, r, again, err)
		}
	})
}

func FuzzRedriveAllowPolicy(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `null`, `{"redrivePermission":"allowAll"}`, `{"redrivePermission":"denyAll","sourceQueueArns":null}`,
		`{"redrivePermission":null}`,
		`{"redrivePermission":"byQueue","sourceQueueArns":["arn:aws:sqs:us-east-1:` + account + `:<&>"]}`,
		`{"redrivePermission":"byQueue","sourceQueueArns":[1]}`,
	} {
		f.Add(s)
	}
	set := func(value string) (*catalog.RedriveAllow, error) {
		ch := changeOf(catalog.Name{})
		err := ch.setRedriveAllow(value)
		return ch.attrs.RedriveAllow, err
	}
	f.Fuzz(func(t *testing.T, value string) {
		r, err := set(value)
		if err != nil || value == "" {
			return
		}
		text := formatRedriveAllow(r)
		again, err := set(text)
		if err != nil || formatRedriveAllow(again) != text || (r.Permission == byQueue) != (len(r.Sources) > 0) ||
			len(r.Sources) > maxSources {
			t.Fatalf("%q becomes %s, %v", value, text, err)
		}
	})
}

// Text that is accepted as a queue's ARN is a valid ARN, and is bounded.
func FuzzARN(f *testing.F) {
	for _, s := range []string{"", arnOf("q"), arnOf("q.fifo"), "arn:aws-cn:sqs:r:" + account + ":q",
		"arn:aws:sqs::" + account + ":", "arn:aws:sqs:-:" + account + ":q:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := service.ParseQueueARN(s)
		if !ok {
			return
		}
		again, ok := service.ParseQueueARN(n.ARN())
		if !ok || again != n || len(n.ARN()) > service.MaxQueueARN || len(n.Queue) > service.MaxQueueName ||
			len(n.Region) > 63 || !strings.HasSuffix(s, n.ARN()[len("arn:aws"):]) {
			t.Fatalf("%q becomes %+v", s, n)
		}
	})
}

// A task handle that is accepted names a task and a queue.
func FuzzTaskHandle(f *testing.F) {
	f.Add(handleOf("task", &catalog.Queue{Name: catalog.Name{Account: account, Region: "us-east-1", Queue: "q"}}))
	f.Add("e30=")
	f.Add("")
	f.Fuzz(func(t *testing.T, handle string) {
		n, id, err := taskTarget(handle)
		if err != nil {
			if e := protocol.AsError(err); e.Status != 400 || len(e.Message) > 1000 {
				t.Fatalf("%q is refused with %v", handle, err)
			}
			return
		}
		again, sameID, err := taskTarget(handleOf(id, &catalog.Queue{Name: n}))
		if err != nil || again != n || sameID != id || id == "" {
			t.Fatalf("%q names task %q of %+v, and then %q of %+v, %v", handle, id, n, sameID, again, err)
		}
	})
}

// changeOf returns a change of the attributes of a queue, where there are no other queues and no users.
func changeOf(n catalog.Name) *attributeChange {
	return &attributeChange{
		name: n, attrs: new(catalog.Attributes), log: slog.New(slog.DiscardHandler),
		findQueue: func(catalog.Name) *catalog.Queue { return nil },
		idOf:      func(string) (string, bool) { return "", false },
	}
}

func checkPolicy(n catalog.Name, value string) error { return changeOf(n).setPolicy(value) }

// Permissions can be added to and removed from any accepted policy.
func FuzzPolicy(f *testing.F) {
	q := catalog.Name{Account: account, Region: "us-east-1", Queue: "q"}
	allow := `{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"` + q.ARN() + `"}`
	for _, s := range []string{
		``, `{}`, `{"Statement":{}}`, `{"Statement":` + allow + `}`,
		` { "Version" : "2012-10-17", "Id":"i", "Statement" : [ ` + allow + ` ] } `,
		`{"Statement":[` + allow + `,` + strings.Replace(allow, "{", `{"Sid":"<&>\u2028",`, 1) + `]}`,
		`{"Statement":[null]}`, `{"Version":{},"Statement":[{}]}`,
	} {
		f.Add(s)
	}
	grant := policy.Permission{Label: "label", Accounts: []string{account}, Actions: []string{"*"}}
	f.Fuzz(func(t *testing.T, value string) {
		if checkPolicy(q, value) != nil || value == "" {
			return
		}
		before, err := policy.Parse(policy.ForResource, value)
		if err != nil || before.Len() > policy.MaxStatements || len(value) > policy.MaxResourceBytes {
			t.Fatalf("%q is accepted: %v", value, err)
		}
		added, err := policy.AddPermission(value, q.ARN(), grant, Rules)
		if err != nil {
			if e := protocol.AsError(policyError(err)); e.Status >= 500 {
				t.Fatalf("%q: %v becomes %v", value, err, e)
			}
			return
		}
		if err := checkPolicy(q, added); err != nil {
			t.Fatalf("%q becomes %s: %v", value, added, err)
		}
		removed, err := policy.RemovePermission(added, "label")
		if err != nil {
			t.Fatalf("%q becomes %s: %v", value, added, err)
		}
		if after, err := policy.Parse(policy.ForResource, removed); err != nil || after.Len() != before.Len() {
			t.Fatalf("%q becomes %s and then %s: %v", value, added, removed, err)
		}
	})
}

// newService returns a service in memory whose long polls do not wait.
func newService(t testing.TB) *protocol.Service {
	messages, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cat := newCatalog(t)
	sh, err := shard.Open(shard.Options{Store: messages, Configs: func() []queue.Config { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	sh.Drain()
	cat.OnChange(func(old, new *catalog.Queue) {
		var err error
		if new == nil {
			err = sh.Drop(context.Background(), old.ID)
		} else {
			err = sh.Configure(context.Background(), new.Config())
		}
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		sh.Close()
		if err := messages.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(Options{Catalog: cat, Shard: sh})
}

// For every input to every operation, the owner gets an answer of SQS: no panic, and no fault of the server.
func FuzzOperations(f *testing.F) {
	forms := []string{
		"", "QueueUrl=q", "QueueName=q",
		"QueueName=q.fifo&Attribute.1.Name=FifoQueue&Attribute.1.Value=true&Tag.1.Key=a&Tag.1.Value=b",
		"QueueName=source&Attribute.1.Name=RedrivePolicy&Attribute.1.Value=%7B%22deadLetterTargetArn%22%3A%22arn%3Aaws%3Asqs%3Aus-east-1%3A000000000000%3Aq%22%2C%22maxReceiveCount%22%3A1%7D",
		"QueueUrl=q&Attribute.Name=Policy&Attribute.Value=%7B%22Statement%22%3A%7B%22Effect%22%3A%22Allow%22%2C%22Principal%22%3A%22*%22%2C%22Action%22%3A%22sqs%3A*%22%2C%22Resource%22%3A%22*%22%7D%7D&AttributeName=All", "QueueUrl=q&AttributeName.1=QueueArn&AttributeName.2=Policy",
		"QueueUrl=q&MessageBody=m&DelaySeconds=0&MessageAttribute.1.Name=a&MessageAttribute.1.Value.DataType=Number&MessageAttribute.1.Value.StringValue=1e5",
		"QueueUrl=q&MessageBody=m&MessageSystemAttribute.1.Name=AWSTraceHeader&MessageSystemAttribute.1.Value.DataType=String&MessageSystemAttribute.1.Value.StringValue=x",
		"QueueUrl=q.fifo&MessageBody=m&MessageGroupId=g&MessageDeduplicationId=d",
		"QueueUrl=q&SendMessageBatchRequestEntry.1.Id=a&SendMessageBatchRequestEntry.1.MessageBody=m&SendMessageBatchRequestEntry.2.Id=b&SendMessageBatchRequestEntry.2.MessageBody=",
		"QueueUrl=q&MaxNumberOfMessages=10&WaitTimeSeconds=20&VisibilityTimeout=0&AttributeName.1=All&MessageAttributeName.1=All",
		"QueueUrl=q.fifo&ReceiveRequestAttemptId=a", "QueueUrl=q&ReceiptHandle=x&VisibilityTimeout=0",
		"QueueUrl=q&ChangeMessageVisibilityBatchRequestEntry.1.Id=a&ChangeMessageVisibilityBatchRequestEntry.1.ReceiptHandle=x&ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout=1",
		"QueueUrl=q&DeleteMessageBatchRequestEntry.1.Id=a&DeleteMessageBatchRequestEntry.1.ReceiptHandle=x",
		"QueueUrl=q&Label=l&AWSAccountId.1=000000000000&ActionName.1=*",
		"QueueUrl=q&Tag.1.Key=a&Tag.1.Value=b&TagKey.1=a", "MaxResults=1&NextToken=cQBx&QueueNamePrefix=q",
		"SourceArn=arn:aws:sqs:us-east-1:000000000000:q&MaxNumberOfMessagesPerSecond=1",
		"TaskHandle=eyJ0YXNrSWQiOiJ0Iiwic291cmNlQXJuIjoiYXJuOmF3czpzcXM6dXMtZWFzdC0xOjAwMDAwMDAwMDAwMDpxIn0=",
	}
	s := newService(f)
	names := make([]string, 0, 23)
	for i, op := range s.Operations() {
		names = append(names, op.Name)
		for _, form := range forms {
			f.Add(uint8(i), false, form)
		}
	}
	for i := range names {
		f.Add(uint8(i), true,
			`{"QueueUrl":"q","QueueName":"q","MessageBody":"m","Entries":[{"Id":"a","MessageBody":"m","ReceiptHandle":"x","VisibilityTimeout":1}],`+
				`"MaxResults":1,"Attributes":{"Policy":""},"Tags":{"a":"b"},"tags":null,"TagKeys":["a"],"Label":"l","AWSAccountIds":["000000000000"],"Actions":["*"],`+
				`"MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"AA=="}}}`)
		f.Add(uint8(i), true, `{}`)
		f.Add(uint8(i), true,
			`{"QueueUrl":"\ud800","QueueName":"\u0000","Entries":[{}],"MessageAttributes":{"":{}},"Attributes":{"":""},"Tags":{"":""}}`)
	}
	root := identity.Root(account, "AKIA")
	f.Fuzz(func(t *testing.T, n uint8, inJSON bool, input string) {
		op := names[int(n)%len(names)]
		r := httptest.NewRequest("POST", "/", nil)
		body := input
		if inJSON {
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			r.Header.Set("X-Amz-Target", "AmazonSQS."+op)
		} else {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			body = "Action=" + op + "&" + input
		}
		req, perr := protocol.Recognise(r, []byte(body))
		if perr != nil {
			return
		}
		operation, perr := s.Lookup(req)
		if perr != nil {
			return
		}
		in, perr := operation.Decode(req)
		if perr != nil {
			if protocol.AsError(perr).Status != 400 {
				t.Fatalf("%s %q: %+v", op, input, perr)
			}
			return
		}
		call := &protocol.Call{
			Service: "sqs", Operation: op, Kind: req.Kind, Path: req.Path, Region: "us-east-1",
			Host: "localhost", Scheme: "http", Identity: &root,
		}
		out, err := operation.Invoke(t.Context(), call, in)
		w := httptest.NewRecorder()
		if err != nil {
			if protocol.AsError(err).Status >= 500 {
				t.Fatalf("%s %q: %v", op, input, err)
			}
			_ = protocol.WriteError(w, s, req, "id", protocol.AsError(err)) // a recorder accepts everything
			return
		}
		_ = protocol.WriteResult(w, s, req, operation, "id", out)
		if inJSON && w.Body.Len() > 0 && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s %q is answered with %q", op, input, w.Body)
		}
	})
}

// The documentation of SendMessage lists the characters.
func FuzzValidText(f *testing.F) {
	for _, s := range []string{
		"", "plain text of some length", "tab\tand\r\nlines, of some length", "\x00", "1234567\x1f", "12345678\x1f",
		"\x20\x1f\x20\x1f\x20\x1f\x20\x1f",
		"\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", "\x80\x80\x80\x80\x80\x80\x80\x80", "äöü and the rest of it",
		"1234567\uFFFF", "\uFFFE", "\U0010FFFF\U00010000",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := utf8.ValidString(s)
		for _, c := range s {
			want = want &&
				(c == 0x9 || c == 0xa || c == 0xd || c >= 0x20 && c <= 0xd7ff || c >= 0xe000 && c <= 0xfffd ||
					c >= 0x10000)
		}
		if service.ValidText(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	})
}

package protocol_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// FuzzDecodeJSON compares the decoder with encoding/json. Ours must accept exactly the JSON that the input's type
// allows, and must find the same values.
func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, ``, `[]`, `{"QueueUrl":null,"MessageBody":"a\n\ud83d\ude00\ud800","DelaySeconds":-12,"Urgent":false}`,
		`{"MessageAttributes":{"a":{"StringValue":"b","BinaryValue":"AA==","StringListValues":[],"BinaryListValues":["AA=="]},"c":null}}`,
		`{"Entries":[{"Id":"1","MessageBody":"x","DelaySeconds":1,"MessageAttributes":{"k":{"DataType":"String"}}},{}]}`,
		`{"QueueName":"q","QueueName":"r","Attributes":{"a":"1","a":"2"},"tags":{}}`,
		`{"x":[1,-0,0.5,1e9,1E-2,true,false,null,{"y":[[[]]]}]} `, "{\"QueueUrl\":\"\xff\x7f\"}",
		`{"DelaySeconds":1.0}`,
		`{"DelaySeconds":2147483648,"Priority":-9223372036854775808}`, `{"Note":{"BinaryValue":"AA\n=="}}`,
		`{"MessageBody":"0123456\"89abcde\\f0123456789\u0000abcdef"}`, "{\"a\":\"\x1f\"}",
	} {
		f.Add([]byte(seed))
	}
	s := newService()
	f.Fuzz(func(t *testing.T, data []byte) {
		valid := json.Valid(data)
		for _, op := range s.Operations() {
			in, err := op.Decode(&protocol.Request{Kind: protocol.JSON, Body: data})
			if err == nil && !valid {
				t.Fatalf("%s is not JSON and becomes %s", data, show(in))
			}
			if !valid {
				continue
			}
			d := json.NewDecoder(bytes.NewReader(data))
			d.UseNumber()
			var document any
			if err := d.Decode(&document); err != nil {
				t.Skip("too deep")
			}
			if text, _ := json.Marshal(document); bytes.ContainsRune(text, utf8.RuneError) {
				t.Skip("encoding/json replaces what is not text")
			}
			want := reflect.New(inputs[op.Name])
			ok := document != nil && project(document, want.Elem())
			switch {
			case err != nil && refusal(err).Code == "TooLong":
			case ok != (err == nil):
				t.Fatalf("%s %s: error %v, want %v", op.Name, data, err, ok)
			case ok && !reflect.DeepEqual(in, want.Interface()):
				t.Fatalf("%s %s becomes %s, want %s", op.Name, data, show(in), show(want.Interface()))
			}
		}
	})
}

// inputs has the input types of the operations.
var inputs = map[string]reflect.Type{
	"SendMessage":      reflect.TypeFor[sendInput](),
	"SendMessageBatch": reflect.TypeFor[sendBatchInput](),
	"CreateQueue":      reflect.TypeFor[createInput](),
	"ReceiveMessage":   reflect.TypeFor[receiveInput](),
	"Wrapped":          reflect.TypeFor[wrappedInput](),
	"Measure":          reflect.TypeFor[measureInput](),
	"DeleteQueue":      reflect.TypeFor[nothing](),
}

// project does what the decoder does, on what encoding/json has read: slowly and obviously. It reports whether document
// has the types that v wants.
func project(document any, v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch document := document.(type) {
	case string:
		if v.Kind() == reflect.String {
			v.SetString(document)
			return true
		}
		if v.Type() != reflect.TypeFor[[]byte]() || strings.ContainsAny(document, "\r\n") {
			return false
		}
		b, err := base64.StdEncoding.Strict().DecodeString(document)
		v.SetBytes(b)
		return err == nil
	case bool:
		if v.Kind() != reflect.Bool {
			return false
		}
		v.SetBool(document)
		return true
	case json.Number:
		if v.CanFloat() {
			n, err := document.Float64()
			v.SetFloat(n)
			return err == nil
		}
		if !v.CanInt() {
			return false
		}
		n, err := strconv.ParseInt(document.String(), 10, v.Type().Bits())
		v.SetInt(n)
		return err == nil
	case []any:
		if v.Kind() != reflect.Slice || v.Type().Elem().Kind() == reflect.Uint8 {
			return false
		}
		v.Set(reflect.MakeSlice(v.Type(), len(document), len(document)))
		for i, e := range document {
			if e == nil || !project(e, v.Index(i)) {
				return false
			}
		}
		return true
	case map[string]any:
		if v.Kind() == reflect.Map {
			v.Set(reflect.MakeMap(v.Type()))
			for key, e := range document {
				entry := reflect.New(v.Type().Elem()).Elem()
				if e == nil {
					continue
				}
				if !project(e, entry) {
					return false
				}
				v.SetMapIndex(reflect.ValueOf(key), entry)
			}
			return true
		}
		if v.Kind() != reflect.Struct {
			return false
		}
		for i := range v.NumField() {
			e := document[jsonName(v.Type().Field(i))]
			if e != nil && !project(e, v.Field(i)) {
				return false
			}
		}
		return true
	}
	return false
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch name {
	case "":
		return f.Name
	case "-":
		return "no such member"
	}
	return name
}

// FuzzDecodeQuery compares the parser of forms with net/url, and makes sure that an input which was read from a form is
// read again from the form that says it plainly.
func FuzzDecodeQuery(f *testing.F) {
	for _, seed := range []string{
		"", "&", "=&=", "MessageBody=a+b%20%c3%BC&DelaySeconds=5", "QueueUrl=%", "QueueUrl=%zz", "a;b=c",
		"MessageAttribute.1.Name=a&MessageAttribute.1.Value.DataType=b&MessageAttribute.1.Value.BinaryValue=AA%3D%3D",
		"SendMessageBatchRequestEntry.2.Id=b&SendMessageBatchRequestEntry.1.Id=a&SendMessageBatchRequestEntry.1.MessageAttribute.7.Name=x" +
			"&SendMessageBatchRequestEntry.1.MessageAttribute.7.Value.StringValue=y",
		"Attribute.Name=a&Attribute.Value=b&Tags.1.Key=a&Tag.1.Value=b&Attribute.00.Name=a",
		"AttributeName=&AttributeName.99999=a",
		"Names.member.1=a&Names.2=b&Pairs.entry.1.key=a&Pairs.entry.1.value=b&Tags=",
		"Note=&Note.DataType=x&Note.StringListValue=",
	} {
		f.Add(seed)
	}
	s := newService()
	f.Fuzz(func(t *testing.T, body string) {
		req, err := protocol.Recognise(form(""), []byte(body))
		malformed := err != nil && refusal(err).Code == "MalformedQueryString"
		values, parseErr := url.ParseQuery(body)
		if parseErr == nil && malformed {
			t.Fatalf("%q is refused: %v", body, err)
		}
		for name := range values {
			if got := req.Form.Get(name); name != "" && !malformed && !strings.Contains(body, ";") &&
				got != values.Get(name) {
				t.Fatalf("%q: %q is %q, net/url has %q", body, name, got, values.Get(name))
			}
		}
		if parseErr != nil && !malformed && strings.Contains(parseErr.Error(), "escape") &&
			!strings.Contains("&"+body, "&=") {
			t.Fatalf("%q is accepted, net/url says %v", body, parseErr)
		}
		for _, op := range s.Operations() {
			in, err := op.Decode(&protocol.Request{Form: req.Form})
			if err != nil {
				continue
			}
			again, err := op.Decode(&protocol.Request{Form: spell(nil, "", reflect.ValueOf(in).Elem())})
			if err != nil || !reflect.DeepEqual(in, again) {
				t.Fatalf("%q: %s is read again as %s, error %v", body, show(in), show(again), err)
			}
		}
	})
}

// spell appends the parameters that say v, whose names begin with prefix.
func spell(form protocol.Form, prefix string, v reflect.Value) protocol.Form {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return form
		}
		v = v.Elem()
	}
	say := func(value string) { form = append(form, protocol.Parameter{Name: prefix, Value: value}) }
	switch {
	case v.Kind() == reflect.String:
		say(v.String())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("query"), ",")
			if name == "" {
				name = jsonName(f)
			}
			if name == "-" {
				continue
			}
			base := strings.TrimPrefix(prefix+"."+name, ".")
			switch fv := v.Field(i); {
			case fv.Kind() == reflect.Map:
				key, value := "Name", "Value"
				if entry := f.Tag.Get("entry"); entry != "" {
					key, value, _ = strings.Cut(entry, ",")
				}
				if !fv.IsNil() && fv.Len() == 0 {
					form = append(form, protocol.Parameter{Name: base})
				}
				for i, k := range fv.MapKeys() {
					at := fmt.Sprintf("%s.%d.", base, i+1)
					form = append(form, protocol.Parameter{Name: at + key, Value: k.String()})
					form = spell(form, at+value, fv.MapIndex(k))
				}
			case fv.Kind() == reflect.Slice && fv.Type().Elem().Kind() != reflect.Uint8:
				if !fv.IsNil() && fv.Len() == 0 {
					form = append(form, protocol.Parameter{Name: base})
				}
				for i := range fv.Len() {
					form = spell(form, fmt.Sprintf("%s.%d", base, i+1), fv.Index(i))
				}
			default:
				form = spell(form, base, fv)
			}
		}
	case v.Kind() == reflect.Slice:
		if !v.IsNil() {
			say(base64.StdEncoding.EncodeToString(v.Bytes()))
		}
	default:
		say(fmt.Sprint(v.Interface()))
	}
	return form
}

// FuzzEncode checks that every answer can be parsed, and has the original values where the format can represent them.
func FuzzEncode(f *testing.F) {
	f.Add("<&>\"'\r\n\t", "a]]>b", []byte{0, 1})
	f.Add("\x00\ufffe\uffff\xff\xed\xa0\x80 \U0001F600\u2028", "", []byte(nil))
	f.Add("1234567\"1234567\\", "\x7f\u0085", []byte{})
	s := newService()
	op := operation(f, s, "ReceiveMessage")
	f.Fuzz(func(t *testing.T, text, key string, blob []byte) {
		out := &receiveOutput{Messages: []message{{
			Body: text, Padding: blob, Attributes: map[string]string{key: text},
			MessageAttributes: map[string]attributeValue{
				key: {StringValue: &text, StringListValues: []string{text, key}},
			},
		}, {}}}
		write := func(req *protocol.Request) []byte {
			w := httptest.NewRecorder()
			if err := protocol.WriteResult(w, s, req, op, text, out); err != nil {
				t.Fatal(err)
			}
			return w.Body.Bytes()
		}

		var read receiveOutput
		answer := write(&protocol.Request{Kind: protocol.JSON})
		if err := json.Unmarshal(answer, &read); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		got := read.Messages[0]
		if utf8.ValidString(text) && got.Body != text || !bytes.Equal(got.Padding, blob) {
			t.Fatalf("%q, %x are written as %s", text, blob, answer)
		}
		if utf8.ValidString(text) && utf8.ValidString(key) && *got.MessageAttributes[key].StringValue != text {
			t.Fatalf("%q of %q is written as %s", text, key, answer)
		}
		if answer := write(&protocol.Request{AcceptJSON: true}); !json.Valid(answer) {
			t.Fatalf("%s is not JSON", answer)
		}

		answer = write(&protocol.Request{})
		var document struct {
			Body []string `xml:"ReceiveMessageResult>Message>Body"`
		}
		d := xml.NewDecoder(bytes.NewReader(answer))
		if err := d.Decode(&document); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			t.Fatalf("%s continues after its end: %v", answer, err)
		}
		if got, want := document.Body[0], inXML(text); got != want {
			t.Fatalf("%q is read as %q, want %q", text, got, want)
		}
	})
}

// inXML returns the part of s that an XML document can represent.
func inXML(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0xfffe || r == 0xffff {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

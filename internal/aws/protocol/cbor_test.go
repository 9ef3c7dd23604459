package protocol_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// postCBOR returns a CBOR request for an operation of the service.
func postCBOR(operation string) *http.Request {
	r := httptest.NewRequest("POST", "/service/AmazonSQS/operation/"+operation, nil)
	r.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
	r.Header.Set("Content-Type", "application/cbor")
	return r
}

func decodeCBOR(operation string, body []byte) (any, *protocol.Error) {
	_, in, err := decode(newService(), postCBOR(operation), string(body))
	return in, err
}

// asCBOR converts a JSON text to CBOR. Where typ has a blob, it is a byte string.
func asCBOR(t *testing.T, text string, typ reflect.Type, indefinite bool) []byte {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	out := appendItem(t, nil, d, typ, indefinite)
	return out
}

// appendItem appends the next value of d. It keeps duplicate members.
func appendItem(t *testing.T, dst []byte, d *json.Decoder, typ reflect.Type, indefinite bool) []byte {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	for typ != nil && typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	var value any = token
	switch token := token.(type) {
	case json.Delim:
		open := map[json.Delim]byte{'{': 5, '[': 4}[token]
		var content []byte
		n := 0
		for ; d.More(); n++ {
			of := typ
			if open == 5 {
				name, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				key, err := cbor.Marshal(name)
				if err != nil {
					t.Fatal(err)
				}
				content = append(content, key...)
				of = member(typ, name.(string))
			} else if typ != nil && typ.Kind() == reflect.Slice {
				of = typ.Elem()
			}
			content = appendItem(t, content, d, of, indefinite)
		}
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		if indefinite {
			return append(append(append(dst, open<<5|31), content...), 0xff)
		}
		if n > 23 {
			t.Fatal("too many members for this test")
		}
		return append(append(dst, open<<5|byte(n)), content...)
	case json.Number:
		if n, err := token.Int64(); err == nil {
			value = n
		} else if f, err := token.Float64(); err == nil {
			value = f
		}
	case string:
		if typ == reflect.TypeFor[[]byte]() {
			if value, err = base64.StdEncoding.DecodeString(token); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := cbor.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return append(dst, b...)
}

// member returns the type of a member of a structure or of a map's values, or nil.
func member(typ reflect.Type, name string) reflect.Type {
	switch {
	case typ == nil:
	case typ.Kind() == reflect.Map:
		return typ.Elem()
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			if jsonName(typ.Field(i)) == name {
				return typ.Field(i).Type
			}
		}
	}
	return nil
}

func TestDecodeCBORRefuses(t *testing.T) {
	t.Parallel()
	f := func(operation, body, want string) {
		t.Helper()
		b, err := hex.DecodeString(strings.ReplaceAll(body, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		in, refused := decodeCBOR(operation, b)
		if refused == nil {
			t.Fatalf("%s is accepted as %s", body, show(in))
		}
		if refused.Message != want || refused.Type != "com.amazon.coral.service#SerializationException" ||
			refused.Status != 400 {
			t.Errorf("%s is refused with %#v, want %s", body, refused, want)
		}
	}
	const (
		messageBody = "6b 4d657373616765426f6479"
		delay       = "6c 44656c61795365636f6e6473"
		value       = "65 56616c7565"
		values      = "66 56616c756573"
		note        = "64 4e6f7465"
	)
	f("SendMessage", "a1"+messageBody+"01", "NUMBER_VALUE can not be converted to a String")
	f("SendMessage", "a1"+messageBody+"4161", "BLOB_VALUE can not be converted to a String")
	f("SendMessage", "a1"+messageBody+"f5", "TRUE_VALUE can not be converted to a String")
	f("SendMessage", "a1"+messageBody+"80", "Start of list found where not expected")
	f("SendMessage", "a1"+messageBody+"a0", "Start of structure or map found where not expected.")
	f("SendMessage", "a1"+delay+"1a80000000", "NUMBER_VALUE can not be converted to an Integer")
	f("SendMessage", "a1"+delay+"f93c00", "DECIMAL_VALUE can not be converted to an Integer")
	f("SendMessage", "a1"+delay+"c101", "TAGGED_VALUE can not be converted to an Integer")
	f("SendMessage", "a1"+note+"80", "Start of list found where not expected")
	f("SendMessage", "a1"+note+"01", "Expected map or null")
	f("Measure", "a1"+value+"6131", "STRING_VALUE can not be converted to a Double")
	f("Measure", "a1"+values+"81f6", "NULL_VALUE found in a list")

	f("SendMessage", "80", "Start of list found where not expected")
	f("SendMessage", "01", "Expected map or null")
	f("SendMessage", "a0 00", "The request body is not valid: unexpected 0x00 at byte 1.")
	f("SendMessage", "a1", "The request body is not valid: it ends after 1 bytes.")
	f("SendMessage", "bf", "The request body is not valid: it ends after 1 bytes.")
	f("SendMessage", "a1 01 01", "The request body is not valid: unexpected 0x01 at byte 1.")
	f("SendMessage", "a1 61 61 ff", "The request body is not valid: unexpected 0xff at byte 3.")
	f("SendMessage", "a1 61 61 1c", "The request body is not valid: unexpected 0x1c at byte 3.")
	f("SendMessage", "a1 61 61 df", "The request body is not valid: unexpected 0xdf at byte 3.")
	f("SendMessage", "a1 61 61 7f 41 61 ff", "The request body is not valid: unexpected 0x41 at byte 4.")
	f("SendMessage", "a1 61 61 f8 10", "The request body is not valid: unexpected 0xf8 at byte 3.")
	f("SendMessage", "a1 7b ffffffffffffffff", "The request body is not valid: it ends after 10 bytes.")
	f("SendMessage", "a1 61 61 9b ffffffffffffffff", "The request body is not valid: it ends after 12 bytes.")
	f("SendMessage", "a1 61 61"+strings.Repeat("9f", 100000), "The request body nests more than 100 levels deep.")
	f("SendMessage", "a1 61 61"+strings.Repeat("81", 100000), "The request body nests more than 100 levels deep.")
	f("SendMessage", "a1 61 61"+strings.Repeat("c1", 100000), "The request body nests more than 100 levels deep.")
}

// Numbers of every width and strings in chunks are read, and null is absent.
func TestDecodeCBORForms(t *testing.T) {
	t.Parallel()
	f := func(body string, want *measureInput) {
		t.Helper()
		b, err := hex.DecodeString(strings.ReplaceAll(body, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		in, refused := decodeCBOR("Measure", b)
		if refused != nil || !reflect.DeepEqual(in, want) {
			t.Errorf("%s is %s, %v, want %s", body, show(in), refused, show(want))
		}
	}
	const value, values = "65 56616c7565", "66 56616c756573"
	f("", &measureInput{})
	f("a1"+value+"f6", &measureInput{})
	f("a1"+value+"f7", &measureInput{})
	f("a1"+value+"f93e00", &measureInput{Value: p(1.5)})
	f("a1"+value+"f90001", &measureInput{Value: p(math.Ldexp(1, -24))})
	f("a1"+value+"fabfc00000", &measureInput{Value: p(-1.5)})
	f("a1"+value+"fb3ff8000000000000", &measureInput{Value: p(1.5)})
	f("a1"+value+"1bffffffffffffffff", &measureInput{Value: p(float64(math.MaxUint64))})
	f("a1"+value+"3903e7", &measureInput{Value: p(-1000.0)})
	f("a1"+values+"9f 01 f93c00 ff", &measureInput{Values: []float64{1, 1}})
	f("bf 7f 62 5661 63 6c7565 ff 05 ff", &measureInput{Value: p(5.0)})
	f("a2 61 78 d9d9f7 a1 01 02"+value+"05", &measureInput{Value: p(5.0)})
}

// Limits are checked while the body is read, and named as in JSON.
func TestDecodeCBORLimits(t *testing.T) {
	t.Parallel()
	values := make([]float64, 1001)
	for want, in := range map[string]any{
		"Values: at most 1000 entries":      map[string]any{"Values": values},
		"QueueUrl: at most 2048 characters": map[string]any{"QueueUrl": strings.Repeat("x", 2049)},
		"MessageAttributes.key: at most 256 characters": map[string]any{
			"MessageAttributes": map[string]any{strings.Repeat("x", 257): map[string]any{}}},
		"Note.BinaryListValues: at most 1000 entries": map[string]any{
			"Note": map[string]any{"BinaryListValues": make([][]byte, 1001)},
		},
	} {
		body, err := cbor.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		operation := "SendMessage"
		if strings.HasPrefix(want, "Values") {
			operation = "Measure"
		}
		body = bytes.ReplaceAll(body, []byte{0xf6}, []byte{0x40}) // nil blobs
		if got, refused := decodeCBOR(operation, body); refused == nil || refused.Message != want {
			t.Errorf("%s: %.100s, %v", want, show(got), refused)
		}
	}
}

func TestRecogniseCBOR(t *testing.T) {
	t.Parallel()
	f := func(method, path, want string) {
		t.Helper()
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
		req, err := protocol.Recognise(r, nil)
		got := req.Kind.String() + " " + req.Target + " " + req.Operation
		if err != nil {
			got = req.Kind.String() + " " + refusal(err).Code
		}
		if got != want {
			t.Errorf("%s %s is %q, want %q", method, path, got, want)
		}
	}
	f("POST", "/service/Granite/operation/GetMetricData", "cbor Granite GetMetricData")
	f("POST", "/prefix/of/service/Granite/operation/GetMetricData", "cbor Granite GetMetricData")
	f("GET", "/service/Granite/operation/GetMetricData", "cbor InvalidHttpRequest")
	f("POST", "/service/Granite/operation/", "cbor InvalidAction")
	f("POST", "/service/Granite/operations/x", "cbor InvalidAction")
	f("POST", "/", "cbor InvalidAction")

	_, err := newService().Lookup(&protocol.Request{Kind: protocol.CBOR, Target: "AmazonSQS", Operation: "FooBar"})
	if refusal(err).Code != "InvalidAction" {
		t.Errorf("an unknown operation: %v", err)
	}
}

func TestWriteCBOR(t *testing.T) {
	t.Parallel()
	s := newService()
	at := time.UnixMilli(1420167845250).UTC()
	for _, c := range []struct {
		operation string
		out       any
		want      map[string]any
	}{
		{"Measure", &measureOutput{Value: -1.5, Values: []float64{1, 2.25}, At: at},
			map[string]any{"Value": -1.5, "Values": []any{1.0, 2.25}, "At": at}},
		{"Wrapped", &wrappedOutput{Pairs: map[string]string{"b": "2", "a": "1"}, Count: -300, Done: true},
			map[string]any{
				"Names": []any{}, "flat": []any{}, "Pairs": map[any]any{"a": "1", "b": "2"}, "Count": int64(-300),
				"Done": true}},
		{"ReceiveMessage", &receiveOutput{Messages: []message{{MessageId: "1", Body: "\xff", Padding: []byte{0, 1}}}},
			map[string]any{
				"Messages": []any{map[any]any{"MessageId": "1", "Body": "\uFFFD", "Padding": []byte{0, 1}}}}},
		{"ReceiveMessage", &receiveOutput{}, map[string]any{}},
	} {
		w := httptest.NewRecorder()
		if err := protocol.WriteResult(w, s, &protocol.Request{Kind: protocol.CBOR}, operation(t, s, c.operation),
			requestID, c.out); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := cbor.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%x: %v", w.Body.Bytes(), err)
		}
		if a, ok := got["At"].(time.Time); ok {
			got["At"] = a.UTC()
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is written as %#v, want %#v", c.operation, got, c.want)
		}
		checkHeaders(t, w, 200, "application/cbor")
		if w.Header().Get("Smithy-Protocol") != "rpc-v2-cbor" {
			t.Errorf("the headers are %v", w.Header())
		}
	}

	w := httptest.NewRecorder()
	if err := protocol.WriteResult(w, s, &protocol.Request{Kind: protocol.CBOR}, operation(t, s, "DeleteQueue"),
		requestID, &nothing{}); err != nil {
		t.Fatal(err)
	}
	if w.Body.Len() != 0 || len(w.Header()["Content-Type"]) != 0 || w.Header().Get("Smithy-Protocol") != "rpc-v2-cbor" {
		t.Errorf("no output is %x with %v", w.Body.Bytes(), w.Header())
	}

	w = httptest.NewRecorder()
	e := &protocol.Error{
		Code: "AWS.SimpleQueueService.NonExistentQueue", Type: "QueueDoesNotExist", Status: 400, Message: "No.",
	}
	if err := protocol.WriteError(w, s, &protocol.Request{Kind: protocol.CBOR}, requestID, e); err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := cbor.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{
		"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "No.",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("the error is %v", got)
	}
	if got := w.Header().Get("x-amzn-query-error"); got != "AWS.SimpleQueueService.NonExistentQueue;Sender" {
		t.Errorf("x-amzn-query-error is %q", got)
	}
	checkHeaders(t, w, 400, "application/cbor")
}

// FuzzDecodeCBOR compares the decoder with a library. Ours must accept exactly the CBOR that the input's type allows,
// and must find the same values.
func FuzzDecodeCBOR(f *testing.F) {
	for _, seed := range []string{
		"a0", "bfff", "80", "a16b4d657373616765426f647962c3bc", "a16c44656c61795365636f6e647320", "a16655726765 6e74f5",
		"a16556616c7565f93c00",
		"a16656616c7565739f01fa3f800000ff", "a1644e6f7465a16b42696e61727956616c7565420001",
		"a1617882d9d9f7a10102c1fb41d52a5c80000000",
		"a17f6161ff7f6162ff", "bf67456e747269657381bf62496461 31ffff",
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(seed, " ", ""))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	mode, err := cbor.DecOptions{
		MaxNestedLevels: 200, TimeTag: cbor.DecTagIgnored, IntDec: cbor.IntDecConvertNone,
	}.DecMode()
	if err != nil {
		f.Fatal(err)
	}
	s := newService()
	f.Fuzz(func(t *testing.T, data []byte) {
		wellFormed := mode.Wellformed(data) == nil
		var document any
		readable := wellFormed && mode.Unmarshal(data, &document) == nil
		for _, op := range s.Operations() {
			in, err := op.Decode(&protocol.Request{Kind: protocol.CBOR, Body: data})
			if err == nil && !wellFormed && len(data) > 0 {
				t.Fatalf("%x is not CBOR and becomes %s", data, show(in))
			}
			if !readable || !textKeys(document) {
				continue
			}
			want := reflect.New(inputs[op.Name])
			_, isMap := document.(map[any]any)
			ok := isMap && projectCBOR(document, want.Elem())
			switch {
			case err != nil && refusal(err).Code == "TooLong", err != nil &&
				strings.Contains(err.Error(), "levels deep"):
			case ok != (err == nil):
				t.Fatalf("%s %x: error %v, want %v", op.Name, data, err, ok)
			case ok && !reflect.DeepEqual(in, want.Interface()):
				t.Fatalf("%s %x becomes %s, want %s", op.Name, data, show(in), show(want.Interface()))
			}
		}
	})
}

// textKeys reports whether the keys of a map are text. Ours refuses other keys.
func textKeys(document any) bool {
	m, ok := document.(map[any]any)
	if !ok {
		return true
	}
	for k := range m {
		if _, text := k.(string); !text {
			return false
		}
	}
	return true
}

// projectCBOR does the same as the decoder, on the values that the library has read.
func projectCBOR(document any, v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	var n float64
	switch document := document.(type) {
	case string:
		if v.Kind() != reflect.String {
			return false
		}
		v.SetString(document)
		return true
	case []byte:
		if v.Type() != reflect.TypeFor[[]byte]() {
			return false
		}
		v.SetBytes(append([]byte{}, document...))
		return true
	case bool:
		if v.Kind() != reflect.Bool {
			return false
		}
		v.SetBool(document)
		return true
	case uint64:
		if v.CanInt() {
			v.SetInt(int64(document))
			return document <= math.MaxInt64 && !v.OverflowInt(int64(document))
		}
		n = float64(document)
	case int64:
		if v.CanInt() {
			v.SetInt(document)
			return !v.OverflowInt(document)
		}
		n = float64(document)
	case float64:
		n = document
	case []any:
		if v.Kind() != reflect.Slice || v.Type().Elem().Kind() == reflect.Uint8 {
			return false
		}
		v.Set(reflect.MakeSlice(v.Type(), len(document), len(document)))
		for i, e := range document {
			if e == nil || !projectCBOR(e, v.Index(i)) {
				return false
			}
		}
		return true
	case map[any]any:
		if !textKeys(document) {
			return false
		}
		if v.Kind() == reflect.Map {
			v.Set(reflect.MakeMap(v.Type()))
			for key, e := range document {
				if e == nil {
					continue
				}
				entry := reflect.New(v.Type().Elem()).Elem()
				if !projectCBOR(e, entry) {
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
			if e != nil && !projectCBOR(e, v.Field(i)) {
				return false
			}
		}
		return true
	default:
		return false
	}
	if !v.CanFloat() {
		return false
	}
	v.SetFloat(n)
	return true
}

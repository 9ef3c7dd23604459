package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

func TestInvoke(t *testing.T) {
	t.Parallel()
	s := protocol.NewService(protocol.Service{Name: "sqs", Target: "AmazonSQS"})
	protocol.Register(s, "Echo", func(_ context.Context, c *protocol.Call, in *tag) (*sendOutput, error) {
		switch in.Key {
		case "":
			return nil, nil
		case "error":
			return nil, fmt.Errorf("echo: %w", protocol.MissingParameter("Key"))
		}
		return &sendOutput{MessageId: c.RequestID + in.Key}, nil
	})
	op := operation(t, s, "Echo")
	call := &protocol.Call{RequestID: "1"}

	out, err := op.Invoke(t.Context(), call, &tag{Key: "a"})
	if err != nil || out.(*sendOutput).MessageId != "1a" {
		t.Errorf("Invoke returns %v, %v", out, err)
	}
	out, err = op.Invoke(t.Context(), call, &tag{})
	if err != nil || *out.(*sendOutput) != (sendOutput{}) {
		t.Errorf("a nil output becomes %v, %v", out, err)
	}
	_, err = op.Invoke(t.Context(), call, &tag{Key: "error"})
	if e := protocol.AsError(err); e.Code != "MissingParameter" {
		t.Errorf("the handler's error becomes %v", e)
	}
	if e := protocol.AsError(errors.New("secret")); e.Code != "InternalError" || strings.Contains(e.Message, "secret") {
		t.Errorf("an error that is not for clients becomes %v", e)
	}
}

// An operation can have its own limit for the size of requests.
func TestMaxBody(t *testing.T) {
	t.Parallel()
	s := protocol.NewService(protocol.Service{Name: "sqs", Target: "AmazonSQS"})
	protocol.Register(s, "Echo", func(context.Context, *protocol.Call, *tag) (*sendOutput, error) { return nil, nil },
		protocol.MaxBody(11))
	for body, want := range map[string]string{`{"Key":"a"}`: "", `{"Key":"ab"}`: "Request size 12 exceeded 11 bytes"} {
		_, err := operation(t, s, "Echo").Decode(&protocol.Request{Kind: protocol.JSON, Body: []byte(body)})
		if want == "" && err != nil || want != "" && (err == nil || protocol.AsError(err).Message != want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestOperationsAreSorted(t *testing.T) {
	t.Parallel()
	var names []string
	for _, op := range newService().Operations() {
		names = append(names, op.Name)
	}
	if got, want := strings.Join(names, " "),
		"CreateQueue DeleteQueue Measure ReceiveMessage SendMessage SendMessageBatch Wrapped"; got != want {
		t.Errorf("operations are %s", got)
	}
}

// Some operations change the control store only with a parameter.
func TestControlWith(t *testing.T) {
	t.Parallel()
	s := protocol.NewService(protocol.Service{Name: "sqs", Target: "AmazonSQS"})
	echo := func(context.Context, *protocol.Call, *tag) (*sendOutput, error) { return nil, nil }
	protocol.Register(s, "Always", echo, protocol.Control)
	protocol.Register(s, "Never", echo)
	protocol.Register(s, "Sometimes", echo, protocol.ControlWith("Key"))
	form := func(name string) *protocol.Request {
		return &protocol.Request{Kind: protocol.Query, Form: protocol.Form{{Name: name, Value: "a"}}}
	}
	for _, c := range []struct {
		op   string
		r    *protocol.Request
		want bool
	}{
		{"Always", form("Value"), true}, {"Never", form("Key"), false}, {"Sometimes", form("Key"),
			true}, {"Sometimes", form("Value"), false},
		{"Sometimes", &protocol.Request{Kind: protocol.JSON, Body: []byte(`{"Key":"a"}`)}, true},
		{"Sometimes", &protocol.Request{Kind: protocol.JSON, Body: []byte(`{"Value":"a"}`)}, false},
	} {
		if op := operation(t, s, c.op); op.ControlFor(c.r) != c.want || op.Control() != (c.op == "Always") {
			t.Errorf("%s with %v: %t, want %t", c.op, c.r, op.ControlFor(c.r), c.want)
		}
	}
}

type recursive struct{ Next *recursive }

// TestRegisterRefuses declares operations that cannot work.
func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	f := func(want string, register func(*protocol.Service)) {
		t.Helper()
		defer func() {
			t.Helper()
			if got, _ := recover().(string); !strings.Contains(got, want) {
				t.Errorf("registering panics with %q, want %q", got, want)
			}
		}()
		register(newService())
	}
	f("service sqs: operation DeleteQueue is registered twice", func(s *protocol.Service) {
		protocol.Register(s, "DeleteQueue", handle[nothing, nothing])
	})
	f("string is not a struct", func(s *protocol.Service) { protocol.Register(s, "X", handle[string, nothing]) })
	f(".A: type float32 cannot travel", declares[struct{ A float32 }])
	f(".A.B: type uint8 cannot travel", declares[struct{ A struct{ B uint8 } }])
	f("contains itself", declares[recursive])
	f(".A: keys of map[int]string are not strings", declares[struct{ A map[int]string }])
	f(".A: collections of collections cannot travel", declares[struct{ A [][]string }])
	f(".A: collections of collections cannot travel", declares[struct{ A map[string][]string }])
	f(".A: []string needs no pointer", declares[struct{ A *[]string }])
	f(".a: unexported fields and embedded ones that are not structs cannot travel", declares[struct{ a string }])
	f(".tag: unexported fields and embedded ones that are not structs cannot travel", declares[struct{ *tag }])
	f(".tag.Key: the name Key is taken by another field", declares[struct {
		Key string `max:"1"`
		tag
	}])
	f(".B: the name A is taken by another field", declares[struct {
		A string `max:"1"`
		B string `json:"A" query:"B" max:"1"`
	}])
	f(".B: the name A is taken by another field", declares[struct {
		A string `max:"1"`
		B string `query:"B,A" max:"1"`
	}])
	f(".A has no name in any protocol", declares[struct {
		A string `json:"-" max:"1"`
	}])
	f(`.A: unknown json option "omitzero"`, declares[struct {
		A string `json:",omitzero" max:"1"`
	}])
	f(".A: only lists and maps can be written always", declares[struct {
		A string `json:",always" max:"1"`
	}])
	f(".A: only times can be precise", declares[struct {
		A int64 `precise:""`
	}])
	f(".A: only lists and maps can be wrapped", declares[struct {
		A string `wrap:"member" max:"1"`
	}])
	f(".A: only maps have entries", declares[struct {
		A []string `entry:"Key,Value" max:"1,1"`
	}])
	f(`.A: keys and values are both called "Key"`, declares[struct {
		A map[string]string `entry:"Key,Key" max:"1,1,1"`
	}])
	f(`.A: "B.C" is not a name`, declares[struct {
		A string `query:"B.C" max:"1"`
	}])
	f(`.A: "" is not a name`, declares[struct {
		A map[string]string `entry:"Key" max:"1,1,1"`
	}])
	f(`.A: the tag max:"" has 0 limits; string needs 1`, declares[struct{ A *string }])
	f(`.A[].B: the tag max:"" has 0 limits; []uint8 needs 1`, declares[struct {
		A []struct{ B []byte } `max:"1"`
	}])
	f(`.A: the tag max:"1" has 1 limits; []string needs 2`, declares[struct {
		A []string `max:"1"`
	}])
	f(`.A: the tag max:"1,1" has 2 limits; map[string]string needs 3`, declares[struct {
		A map[string]string `max:"1,1"`
	}])
	f(`.A: the tag max:"1" has 1 limits; int needs 0`, declares[struct {
		A int `max:"1"`
	}])
	f(`.A: the limit "0" is not a positive number`, declares[struct {
		A string `max:"0"`
	}])
	f(`.A: the limit "1G" is not a positive number`, declares[struct {
		A string `max:"1G"`
	}])
	f(`version "2012" is not a date`, func(*protocol.Service) {
		protocol.NewService(protocol.Service{Name: "x", Versions: []string{"2012"}})
	})
}

func declares[In any](s *protocol.Service) { protocol.Register(s, "X", handle[In, nothing]) }

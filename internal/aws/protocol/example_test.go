package protocol_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type greetInput struct {
	Name  *string           `max:"64"`
	Moods map[string]string `query:"Mood" entry:"Key,Value" max:"10,64,64"`
}

type greetOutput struct {
	Greeting string
}

// An operation is declared once and then available in every protocol.
func Example() {
	s := protocol.NewService(protocol.Service{
		Name:           "greeter",
		Target:         "AmazonGreeter",
		Versions:       []string{"2026-01-01"},
		Namespace:      "http://greeter.example.com/doc/%s/",
		ErrorNamespace: "com.example.greeter",
	})
	protocol.Register(s, "Greet", func(_ context.Context, c *protocol.Call, in *greetInput) (*greetOutput, error) {
		if in.Name == nil {
			return nil, protocol.MissingParameter("Name")
		}
		return &greetOutput{Greeting: in.Moods["voice"] + " hello, " + *in.Name}, nil
	})

	// The steps of an HTTP layer, without authentication.
	serve := func(w http.ResponseWriter, r *http.Request, body string) error {
		const requestID = "1"
		req, e := protocol.Recognise(r, []byte(body))
		if e != nil {
			return protocol.WriteError(w, nil, req, requestID, protocol.AsError(e))
		}
		op, e := s.Lookup(req)
		if e != nil {
			return protocol.WriteError(w, s, req, requestID, protocol.AsError(e))
		}
		in, e := op.Decode(req)
		if e != nil {
			return protocol.WriteError(w, s, req, requestID, protocol.AsError(e))
		}
		call := &protocol.Call{
			Service: s.Name, Operation: op.Name, RequestID: requestID, Kind: req.Kind, Version: req.Version,
			Path: req.Path,
		}
		out, err := op.Invoke(r.Context(), call, in)
		if err != nil {
			return protocol.WriteError(w, s, req, requestID, protocol.AsError(err))
		}
		return protocol.WriteResult(w, s, req, op, requestID, out)
	}

	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/", nil)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonGreeter.Greet")
	serve(w, r, `{"Name":"Ada","Moods":{"voice":"soft"}}`)
	fmt.Println(w.Body)

	w = httptest.NewRecorder()
	serve(w, httptest.NewRequest("GET", "/?Action=Greet&Name=Ada&Mood.1.Key=voice&Mood.1.Value=loud", nil), "")
	fmt.Println(strings.ReplaceAll(w.Body.String(), "><", ">\n<"))

	w = httptest.NewRecorder()
	serve(w, r, `{}`)
	fmt.Println(w.Code, w.Header().Get("x-amzn-query-error"), w.Body)

	// Output:
	// {"Greeting":"soft hello, Ada"}
	// <?xml version="1.0"?>
	// <GreetResponse xmlns="http://greeter.example.com/doc/2026-01-01/">
	// <GreetResult>
	// <Greeting>loud hello, Ada</Greeting>
	// </GreetResult>
	// <ResponseMetadata>
	// <RequestId>1</RequestId>
	// </ResponseMetadata>
	// </GreetResponse>
	// 400 MissingParameter;Sender {"__type":"com.amazon.coral.service#MissingRequiredParameterException","message":"The request must contain the parameter Name."}
}

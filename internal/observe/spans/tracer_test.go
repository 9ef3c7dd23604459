package spans

import (
	"context"
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	const there = "http://127.0.0.1:4318"
	for _, c := range []struct {
		env      map[string]string
		protocol string // "": off
		wrong    string
	}{
		{nil, "", ""},
		{map[string]string{endpointVariable: there}, "http/protobuf", ""},
		{map[string]string{tracesEndpointVariable: there + "/v1/traces"}, "http/protobuf", ""},
		{map[string]string{endpointVariable: there, protocolVariable: "grpc"}, "grpc", ""},
		{map[string]string{endpointVariable: there, protocolVariable: "grpc", tracesProtocolVariable: "http/protobuf"}, "http/protobuf", ""},
		{map[string]string{endpointVariable: there, disabledVariable: "TRUE"}, "", ""},
		{map[string]string{endpointVariable: there, exporterVariable: "none"}, "", ""},
		{map[string]string{endpointVariable: there, exporterVariable: "otlp"}, "http/protobuf", ""},
		{map[string]string{endpointVariable: there, exporterVariable: "zipkin"}, "", `OTEL_TRACES_EXPORTER="zipkin": want otlp or none`},
		{map[string]string{endpointVariable: "collector:4318"}, "", `OTEL_EXPORTER_OTLP_ENDPOINT="collector:4318": want a URL`},
		{map[string]string{tracesEndpointVariable: "x"}, "", `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="x": want a URL`},
		{map[string]string{endpointVariable: there, protocolVariable: "http/json"}, "", `"http/json": want http/protobuf or grpc`},
		{map[string]string{endpointVariable: there, samplerVariable: "sometimes"}, "", `OTEL_TRACES_SAMPLER="sometimes": want always_on`},
	} {
		protocol, on, err := settings(func(name string) string { return c.env[name] })
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) || on != (c.protocol != "") || on && protocol != c.protocol {
			t.Errorf("%v: %q, %v, %v", c.env, protocol, on, err)
		}
	}
}

// Without a collector there is nothing, and nothing has to know that.
func TestOff(t *testing.T) {
	t.Parallel()
	var tracer *Tracer
	if r := tracer.Begin(func(string) string { return "" }); r != nil {
		t.Error("a request has a span")
	}
	(*Request)(nil).End(&Outcome{})
	if m := tracer.Follow(nil, nil); m != nil {
		t.Error("messages are followed")
	}
	if err := tracer.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

package spans

import (
	"context"
	"strings"
	"testing"
)

// environment is a getenv with the given variables only.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestSettings(t *testing.T) {
	t.Parallel()
	const there = "http://127.0.0.1:4318"
	for _, c := range []struct {
		env   map[string]string
		on    bool
		wrong string
	}{
		{nil, false, ""},
		{map[string]string{endpointVariable: there}, true, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": there + "/v1/traces"}, true, ""},
		{map[string]string{
			endpointVariable: there, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
			"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
		}, true, ""},
		{map[string]string{endpointVariable: there, disabledVariable: "TRUE"}, false, ""},
		{map[string]string{endpointVariable: there, exporterVariable: "none"}, false, ""},
		{map[string]string{endpointVariable: there, exporterVariable: "otlp"}, true, ""},
		{map[string]string{endpointVariable: there, exporterVariable: "zipkin"}, false,
			`OTEL_TRACES_EXPORTER="zipkin": want otlp or none`},
		{map[string]string{endpointVariable: there, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false,
			`PROTOCOL="grpc": want http/protobuf`},
		{map[string]string{endpointVariable: there, samplerVariable: "sometimes"}, false,
			`OTEL_TRACES_SAMPLER="sometimes": want always_on`},
	} {
		on, err := settings(environment(c.env))
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) || on != c.on {
			t.Errorf("%v: %v, %v", c.env, on, err)
		}
	}
}

// Without a collector there is no tracer, and callers need not know.
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

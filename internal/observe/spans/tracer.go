package spans

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
)

// The variables of OpenTelemetry that this package reads, beside those of the exporter.
const (
	endpointVariable = "OTEL_EXPORTER_OTLP_ENDPOINT"
	exporterVariable = "OTEL_TRACES_EXPORTER"
	disabledVariable = "OTEL_SDK_DISABLED"
	samplerVariable  = "OTEL_TRACES_SAMPLER"
	shareVariable    = "OTEL_TRACES_SAMPLER_ARG"
	resourceVariable = "OTEL_RESOURCE_ATTRIBUTES"
	serviceVariable  = "OTEL_SERVICE_NAME"
)

// Options describes the source of the spans.
type Options struct {
	Version string       // of the program
	Node    string       // of a cluster; empty: a single server
	Log     *slog.Logger // nil discards
}

// Tracer sends spans. A nil Tracer sends none.
type Tracer struct {
	sampler  sampler
	send     func(*span)
	close    func(context.Context) error
	followed atomic.Int64 // messages, by all Messages together
}

// Open returns a tracer configured by OpenTelemetry's variables in the environment, or nil if they name no collector.
// The collector need not be reachable.
func Open(o Options) (*Tracer, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if on, err := settings(os.Getenv); err != nil || !on {
		return nil, err
	}
	there, err := newCollector(os.Getenv)
	if err != nil {
		return nil, err
	}
	resource, err := resourceOf(o, os.Getenv)
	if err != nil {
		return nil, err
	}
	which, err := newSampler(os.Getenv)
	if err != nil {
		return nil, err
	}
	batches, err := newBatching(os.Getenv)
	if err != nil {
		return nil, err
	}
	s := newSender(batches, o.Log, func(ctx context.Context, batch []*span) error {
		return there.upload(ctx, encode(resource, o.Version, batch))
	})
	go s.run()
	return &Tracer{sampler: which, send: s.add, close: func(ctx context.Context) error {
		defer there.client.CloseIdleConnections()
		return s.close(ctx)
	}}, nil
}

// settings reports whether spans are sent.
func settings(getenv func(string) string) (on bool, err error) {
	_, endpoint := lookUp(getenv, "ENDPOINT")
	exporter := getenv(exporterVariable)
	if endpoint == "" || exporter == "none" || strings.EqualFold(getenv(disabledVariable), "true") {
		return false, nil
	}
	if exporter != "" && exporter != "otlp" {
		return false, fmt.Errorf("%s=%q: want otlp or none", exporterVariable, exporter)
	}
	if name, protocol := lookUp(getenv, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("%s=%q: want http/protobuf, for which most collectors listen on port 4318", name, protocol)
	}
	_, err = newSampler(getenv)
	return err == nil, err
}

// Close sends the remaining spans, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.close(ctx)
}

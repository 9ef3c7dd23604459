package spans

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The variables of OpenTelemetry that this package reads itself; its SDK reads the others.
const (
	endpointVariable = "OTEL_EXPORTER_OTLP_ENDPOINT"
	exporterVariable = "OTEL_TRACES_EXPORTER"
	disabledVariable = "OTEL_SDK_DISABLED"
	samplerVariable  = "OTEL_TRACES_SAMPLER"
)

// Options describes the source of the spans.
type Options struct {
	Version string       // of the program
	Node    string       // of a cluster; empty: a single server
	Log     *slog.Logger // nil discards
}

// Tracer sends spans. A nil Tracer sends none.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
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
	exporter, err := otlptrace.New(context.Background(), there)
	if err != nil {
		return nil, fmt.Errorf("OpenTelemetry: %w", err)
	}
	who := []attribute.KeyValue{
		attribute.String("service.name", "sluice"), attribute.String("service.version", o.Version),
	}
	if o.Node != "" {
		who = append(who, attribute.String("service.instance.id", o.Node))
	}
	// The environment takes precedence: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
	described, err := resource.New(context.Background(),
		resource.WithAttributes(who...), resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OpenTelemetry: %w", err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithResource(described), sdk.WithBatcher(&quietly{SpanExporter: exporter, log: o.Log}),
	)
	return &Tracer{
		provider: provider,
		tracer:   provider.Tracer("github.com/sluicemq/sluice", trace.WithInstrumentationVersion(o.Version)),
	}, nil
}

// settings reports whether spans are sent. The SDK only logs mistakes in its settings, and continues with defaults.
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
	switch sampler := getenv(samplerVariable); sampler {
	case "", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off",
		"parentbased_traceidratio":
		return true, nil
	default:
		return false, fmt.Errorf(
			"%s=%q: want always_on, always_off or traceidratio, or one of these after parentbased_",
			samplerVariable,
			sampler,
		)
	}
}

// Close sends the remaining spans, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// complaintInterval is how often the log reports that a collector does not accept spans.
const complaintInterval = time.Minute

// quietly is an exporter that logs errors only from time to time.
type quietly struct {
	sdk.SpanExporter
	log  *slog.Logger
	last time.Time // of a complaint; one goroutine exports
	lost int       // spans since then
}

// ExportSpans implements sdk.SpanExporter.
func (q *quietly) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	q.lost += len(spans)
	if now := time.Now(); now.Sub(q.last) >= complaintInterval {
		q.log.Warn("spans could not be sent", "spans", q.lost, "error", err)
		q.last, q.lost = now, 0
	}
	return nil
}

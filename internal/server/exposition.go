package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
)

// exposition is the wing of metrics for Prometheus. It answers GET /metrics on its own address: on the address for
// clients, a proxy would hide the sender of a request.
type exposition struct {
	config   *Config
	log      *slog.Logger
	listener net.Listener  // nil: metrics are not served
	metrics  *prom.Metrics // nil until measure

	queues   func(context.Context) ([]queue.Standing, error)
	topics   func(context.Context) ([]queue.TopicStanding, error)
	accounts func(context.Context) ([]tenant.Usage, error)
}

// metricsPage returns a page of metrics of single queues or topics, with the states that standings returns. The query
// parameter prefix selects them by the beginning of their names.
func metricsPage[T any](
	standings func(context.Context) ([]T, error), of func([]T, string) prometheus.Gatherer, o promhttp.HandlerOpts,
) http.Handler {
	places := make(chan struct{}, metricsAtOnce)
	o.MaxRequestsInFlight = 0 // the handler lives for one request only
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			http.Error(w, "too many requests for metrics at a time", http.StatusServiceUnavailable)
			return
		}
		all, err := standings(r.Context())
		if err != nil {
			http.Error(w, "the shards do not report the state of their queues and topics", http.StatusServiceUnavailable)
			return
		}
		promhttp.HandlerFor(of(all, r.URL.Query().Get("prefix")), o).ServeHTTP(w, r)
	})
}

const (
	metricsAtOnce  = 4
	metricsTimeout = 20 * time.Second // of the collectors
	metricsIO      = 30 * time.Second
)

// openExposition begins to listen, if metrics are configured.
func openExposition(c *Config) (*exposition, error) {
	e := &exposition{config: c, log: c.Logger}
	if c.MetricsListen == "" {
		return e, nil
	}
	l, err := net.Listen("tcp", c.MetricsListen)
	if err != nil {
		return nil, fmt.Errorf("--metrics-listen %s: %w", c.MetricsListen, err)
	}
	e.listener = l
	e.log.Info("serving metrics", "url", "http://"+l.Addr().String()+"/metrics")
	return e, nil
}

// measured is a wing that has metrics.
type measured interface{ measure(m *prom.Metrics) }

// measure registers the metrics of requests to services, and those of each wing.
func (e *exposition) measure(services []*protocol.Service, wings []measured) {
	operations := make(map[string][]string)
	for _, s := range services {
		for _, op := range s.Operations() {
			operations[s.Name] = append(operations[s.Name], op.Name)
		}
	}
	operations[admin.ServiceName] = append(operations[admin.ServiceName], backupOperation)
	e.metrics = prom.New(e.config.Version, operations)
	for _, w := range wings {
		w.measure(e.metrics)
	}
}

// expose sets the contents of the pages of single queues, topics and accounts.
func (e *exposition) expose(st *storage, a *accounts, t *topics) {
	e.queues, e.topics = st.messages.Standings, t.standings
	e.accounts = func(context.Context) ([]tenant.Usage, error) { return usages(st, a, t), nil }
}

// usages returns the accounts and users that have limits, with their use. It adds the names of users, and counts
// queues, topics and subscriptions.
func usages(st *storage, a *accounts, t *topics) []tenant.Usage {
	all := a.tenants.Usages()
	for i := range all {
		u := &all[i]
		if user := a.directory.Entity(u.User); u.User != "" && user != nil {
			u.User = user.Name
			continue
		}
		u.Used[tenant.Queues] = float64(st.catalog.Load().Count(u.Account))
		topics, _ := t.records.Count(u.Account)
		u.Used[tenant.Topics] = float64(topics)
		u.Used[tenant.Subscriptions] = float64(t.records.CountSubscriptions(u.Account))
	}
	return all
}

// Run answers requests for metrics until ctx ends.
func (e *exposition) Run(ctx context.Context) error {
	if e.listener == nil {
		return nil
	}
	h := &http.Server{
		Handler: e.pages(), ReadHeaderTimeout: metricsIO, ReadTimeout: metricsIO, WriteTimeout: metricsIO,
		IdleTimeout: 4 * metricsIO, MaxHeaderBytes: front.MaxHeader,
		ErrorLog: slog.NewLogLogger(e.log.Handler(), slog.LevelDebug),
	}
	defer context.AfterFunc(ctx, func() { _ = h.Close() })() // Serve returns why it ends
	if err := h.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics are not served any more: %w", err)
	}
	return nil
}

// pages returns the handler of all pages.
func (e *exposition) pages() http.Handler {
	mux := http.NewServeMux()
	options := promhttp.HandlerOpts{
		MaxRequestsInFlight: metricsAtOnce, Timeout: metricsTimeout,
		ErrorLog: slog.NewLogLogger(e.log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	}
	mux.Handle("GET /metrics", promhttp.HandlerFor(e.metrics.Gatherer(), options))
	mux.Handle("GET /metrics/queues", metricsPage(e.queues, prom.Queues, options))
	mux.Handle("GET /metrics/topics", metricsPage(e.topics, prom.Topics, options))
	mux.Handle("GET /metrics/accounts", metricsPage(e.accounts, prom.Accounts, options))
	mux.Handle("GET /metrics/cloudwatch", metricsPage(e.queues, prom.CloudWatch, options))
	return mux
}

// close closes the listener, unless Run has.
func (e *exposition) close() error {
	if e == nil || e.listener == nil {
		return nil
	}
	return closeListener(e.listener)
}

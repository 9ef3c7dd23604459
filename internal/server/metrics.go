package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/delivery"
)

// metricsServer answers GET /metrics on an address of its own. Behind the one for
// clients there may be a proxy, which hides who asks.
type metricsServer struct {
	listener  net.Listener
	standings func(context.Context) ([]queue.Standing, error)
	topics    func(context.Context) ([]queue.TopicStanding, error)
	accounts  func(context.Context) ([]tenant.Usage, error)
}

// metricsPage returns a page of metrics of single queues or topics, which stand as standings says. The query may have the
// beginning of their names as prefix.
func metricsPage[T any](standings func(context.Context) ([]T, error), of func([]T, string) prometheus.Gatherer, o promhttp.HandlerOpts) http.Handler {
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
			http.Error(w, "the shards cannot be asked how their queues and topics stand", http.StatusServiceUnavailable)
			return
		}
		promhttp.HandlerFor(of(all, r.URL.Query().Get("prefix")), o).ServeHTTP(w, r)
	})
}

const (
	metricsAtOnce  = 4
	metricsTimeout = 20 * time.Second // of what collects them
	metricsIO      = 30 * time.Second
)

// openMetrics begins to listen, if it is wanted.
func (s *Server) openMetrics() error {
	if s.config.MetricsListen == "" {
		return nil
	}
	l, err := net.Listen("tcp", s.config.MetricsListen)
	if err != nil {
		return fmt.Errorf("--metrics-listen %s: %w", s.config.MetricsListen, err)
	}
	s.metricsHTTP = &metricsServer{
		listener: l, standings: func(ctx context.Context) ([]queue.Standing, error) { return s.messages.Standings(ctx) },
		topics: s.topicStandings, accounts: s.usages,
	}
	s.log.Info("serving metrics", "url", "http://"+l.Addr().String()+"/metrics")
	return nil
}

// topicStandings returns what is counted on this machine of the topics that there are.
func (s *Server) topicStandings(ctx context.Context) ([]queue.TopicStanding, error) {
	all, err := s.messages.TopicStandings(ctx)
	return slices.DeleteFunc(all, func(t queue.TopicStanding) bool {
		name, err := topic.ParseARN(t.ARN)
		return err != nil || s.topics.Find(name) == nil
	}), err
}

// serve serves m until ctx ends.
func (m *metricsServer) serve(ctx context.Context, all *prom.Metrics, log *slog.Logger) {
	if m == nil {
		return
	}
	errorLog := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	mux := http.NewServeMux()
	options := promhttp.HandlerOpts{
		MaxRequestsInFlight: metricsAtOnce, Timeout: metricsTimeout, ErrorLog: errorLog, ErrorHandling: promhttp.ContinueOnError,
	}
	mux.Handle("GET /metrics", promhttp.HandlerFor(all.Gatherer(), options))
	mux.Handle("GET /metrics/queues", metricsPage(m.standings, prom.Queues, options))
	mux.Handle("GET /metrics/topics", metricsPage(m.topics, prom.Topics, options))
	mux.Handle("GET /metrics/accounts", metricsPage(m.accounts, prom.Accounts, options))
	mux.Handle("GET /metrics/cloudwatch", metricsPage(m.standings, prom.CloudWatch, options))
	h := &http.Server{
		Handler: mux, ReadHeaderTimeout: metricsIO, ReadTimeout: metricsIO, WriteTimeout: metricsIO, IdleTimeout: 4 * metricsIO,
		MaxHeaderBytes: front.MaxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	defer context.AfterFunc(ctx, func() { _ = h.Close() })() // Serve says why it ends
	if err := h.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
		log.Error("metrics are not served any more", "error", err)
	}
}

func (m *metricsServer) close() error {
	if m == nil {
		return nil
	}
	if err := m.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// measure makes the server's metrics.
func (s *Server) measure(services []*protocol.Service) {
	operations := make(map[string][]string)
	for _, s := range services {
		for _, op := range s.Operations() {
			operations[s.Name] = append(operations[s.Name], op.Name)
		}
	}
	operations["sluice"] = append(operations["sluice"], backupOperation)
	s.metrics = prom.New(s.config.Version, operations)
	if !s.config.InMemory {
		s.metrics.Disk(s.space.free, func() bool { return s.space.room() != nil })
	}
	s.metrics.Totals(s.totals.Get)
	s.metrics.Memory(func() int64 { return s.front.MemoryInUse() })
	s.metrics.Cluster(s.node.Status)
	s.metrics.Limits(s.tenants.Load().Refused)
	s.metrics.Idle(s.sweeper.Announced, s.sweeper.Deleted)
	s.metrics.Trail(func() prom.TrailDrops {
		return prom.TrailDrops{
			ManagementRecording: s.trail.Dropped(), ManagementDelivery: s.trail.Undelivered() + s.deliveries.PassedOver(),
			DataRecording: s.spool.Dropped(), DataDelivery: s.spool.Undelivered(),
		}
	})
	s.metrics.Deliveries(func() []prom.Delivery {
		return service.Convert(s.deliverer.Counts(), func(c delivery.Count) prom.Delivery {
			return prom.Delivery{Protocol: c.Protocol, Outcome: c.Outcome.String(), Number: c.Number}
		})
	}, s.deliverer.Sending)
}

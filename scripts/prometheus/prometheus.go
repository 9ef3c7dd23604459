// Package prometheus runs a Prometheus that scrapes a Sluice server, queries it, and reads Grafana's dashboards, for
// programs that show or test a dashboard.
package prometheus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sluicemq/sluice/internal/proof/freeport"
)

// Server is a Prometheus that runs.
type Server struct {
	url    string
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

// Start runs a Prometheus with its data in dir, which scrapes the pages of a server at host:port.
func Start(ctx context.Context, dir, target string, interval time.Duration) (*Server, error) {
	config := fmt.Sprintf(`global: {scrape_interval: %s}
scrape_configs:
  - job_name: sluice
    static_configs: [{targets: [%q]}]
  - job_name: sluice-queues
    metrics_path: /metrics/queues
    static_configs: [{targets: [%q]}]
  - job_name: sluice-topics
    metrics_path: /metrics/topics
    static_configs: [{targets: [%q]}]
`, interval, target, target, target)
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	free, err := freeport.Take(1)
	if err != nil {
		return nil, err
	}
	listen := free[0]
	s := &Server{url: "http://" + listen}
	s.cmd = exec.CommandContext(
		ctx,
		"prometheus",
		"--config.file",
		file,
		"--storage.tsdb.path",
		filepath.Join(dir, "tsdb"),
		"--web.listen-address",
		listen,
	)
	s.cmd.Stderr = &s.stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = time.Minute
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if r, err := http.Get(s.url + "/-/ready"); err == nil {
			if err = r.Body.Close(); err == nil && r.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return nil, errors.Join(fmt.Errorf("prometheus does not get ready:\n%s", &s.stderr), s.Stop())
		}
	}
}

// Stop ends it.
func (s *Server) Stop() error {
	_ = s.cmd.Process.Signal(os.Interrupt) // it may have ended
	err := s.cmd.Wait()
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return nil
	}
	return err
}

// Series is a part of the answer to a query.
type Series struct {
	Labels map[string]string
	Points []Point // oldest first
}

// Point is a value at a time, in seconds since 1970.
type Point struct{ Time, Value float64 }

// Range evaluates a query at each step from one time to another.
func (s *Server) Range(ctx context.Context, query string, from, to time.Time, step time.Duration) ([]Series, error) {
	ask := url.Values{
		"query": {query}, "step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)},
		"start": {strconv.FormatInt(from.Unix(), 10)}, "end": {strconv.FormatInt(to.Unix(), 10)},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/query_range?"+ask.Encode(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var out struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	if out.Error != "" {
		return nil, fmt.Errorf("%s: %s", query, out.Error)
	}
	var all []Series
	for _, of := range out.Data.Result {
		one := Series{Labels: of.Metric}
		for _, v := range of.Values {
			at, _ := v[0].(float64)
			text, _ := v[1].(string)
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", query, err)
			}
			one.Points = append(one.Points, Point{at, value})
		}
		all = append(all, one)
	}
	return all, nil
}

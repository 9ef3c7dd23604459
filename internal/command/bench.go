package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/bench"
	"github.com/sluicemq/sluice/internal/server"
)

func newBench() *cobra.Command {
	server := new(clientFlags)
	c := bench.Config{Producers: 16, Consumers: 32, Batch: 1, Size: 1024, Duration: 10 * time.Second, Groups: 64}
	var preset string
	var ceiling bool
	var out output
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Load an SQS endpoint and check that every message arrives",
		Long: `Load an SQS endpoint and check that every message arrives.

Producers send, and consumers receive and delete, each on its own connection;
several endpoints share the connections. The presets come from the SQS developer guide's
Appendix A: single (16 and 32 connections), double (32 and 64), batched (12 and 20, ten
messages a call).

With --rate, sends are due at even intervals, and their times count from then.

With --pollers, that many connections wait in long polls instead, and single messages
measure how soon each reaches its poller.

The exit status is 1 if a message was lost or, in a FIFO queue, came twice or out of
order.`,
		Example: `  sluice bench --preset double --duration 1m
  sluice bench --fifo --groups 1000 --batch 10
  sluice bench --consumers 0 --rate 5000
  sluice bench --pollers 5000 --queues 100`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p, ok := bench.Presets[preset]; ok {
				c.Producers, c.Consumers, c.Batch = p.Producers, p.Consumers, p.Batch
			}
			if c.Pollers > 0 && c.Queues == 0 {
				c.Queues = 1
			}
			if err := usage(c.Validate()); err != nil {
				return err
			}
			var from string
			var err error
			if c.Target, from, err = benchTarget(server); err != nil {
				return err
			}
			if c.Pollers > 0 {
				err = runPollers(cmd, c, &out)
			} else {
				err = runBench(cmd, c, ceiling, &out)
			}
			var unreachable *net.OpError
			if errors.As(err, &unreachable) && unreachable.Op == "dial" {
				err = fmt.Errorf("%w (the endpoint is from %s)", err, from)
			}
			return err
		},
	}
	f := cmd.Flags()
	addChoice(f, &preset, "preset", "", "single", "double", "batched")
	f.IntVar(&c.Producers, "producers", c.Producers, "connections that send")
	f.IntVar(&c.Consumers, "consumers", c.Consumers, "connections that receive and delete")
	f.IntVar(&c.Batch, "batch", c.Batch, "messages in a call, 1 to 10")
	f.IntVar(&c.Size, "size", c.Size, "bytes of a message body")
	f.DurationVar(&c.Duration, "duration", c.Duration, "how long to measure")
	f.BoolVar(&c.FIFO, "fifo", false, "load a FIFO queue")
	f.IntVar(&c.Groups, "groups", c.Groups, "message groups of a FIFO queue")
	f.IntVar(&c.Rate, "rate", 0, "messages a second, at even intervals (default: as many as possible)")
	f.IntVar(&c.Backlog, "backlog", 0, "messages to store before the measurement begins")
	f.StringVar(&c.Queue, "queue", "", "existing queue (default: a new one, deleted afterwards)")
	f.BoolVar(&ceiling, "ceiling", false, "first load a handler that does nothing, and print the ratio")
	f.IntVar(&c.Pollers, "pollers", 0, "connections with an idle long poll each, instead of a load")
	f.IntVar(&c.Queues, "queues", 0, "queues that the pollers wait for (default 1)")
	f.IntVar(&c.ServerPID, "server-pid", 0, "process id of the server on this machine: print its processor time, or its memory with --pollers")
	server.add(cmd, "SQS")
	out.add(cmd)
	notWith(
		f, "pollers", "preset", "producers", "consumers", "batch", "fifo", "groups", "backlog", "queue", "ceiling",
		"rate",
	)
	notWith(f, "ceiling", "rate")
	notWith(f, "preset", "producers", "consumers", "batch")
	onlyWith(f, []string{"pollers"}, "queues")
	onlyWith(f, []string{"fifo"}, "groups")
	cmd.AddCommand(newCeiling())
	return cmd
}

// benchTarget returns the server's address from the flags and the environment, and the name of the flag or variable.
func benchTarget(server *clientFlags) (t bench.Target, from string, err error) {
	c, err := server.client()
	if err != nil {
		return t, "", err
	}
	t = bench.Target{
		Region: c.signer.Region, KeyID: c.signer.AccessKeyID, Secret: c.signer.Secret, Token: c.signer.Token,
	}
	for _, e := range c.endpoints {
		t.Endpoints, from = append(t.Endpoints, e.url), e.from
	}
	t.Roots, err = server.trusted()
	return t, from, err
}

func runPollers(cmd *cobra.Command, c bench.Config, out *output) error {
	report, err := bench.RunPollers(cmd.Context(), c, out.progress(cmd.OutOrStdout()))
	if err != nil {
		return err
	}
	if err := out.print(cmd, printed{report}); err != nil {
		return err
	}
	if faults := report.Faults(); faults != "" {
		return errors.New(faults)
	}
	return nil
}

// benchReport is the answer of bench.
type benchReport struct {
	*bench.Report
	Ceiling *bench.Report `json:",omitempty"`
	Ratio   float64       `json:",omitempty"` // send calls per second in percent of the ceiling
}

func (r benchReport) text(w io.Writer) error {
	r.Print(w)
	if r.Ceiling != nil && len(r.Ceiling.Calls) > 0 {
		fmt.Fprintf(
			w,
			"\n%.0f%% of the %.0f calls/s that the HTTP stack does with an empty handler\n",
			100*r.Ratio,
			r.Ceiling.Calls[0].PerSecond,
		)
	}
	return nil
}

func runBench(cmd *cobra.Command, c bench.Config, ceiling bool, out *output) (err error) {
	var report benchReport
	progress := out.progress(cmd.OutOrStdout())
	if ceiling {
		if report.Ceiling, err = runCeiling(cmd.Context(), c, progress); err != nil {
			return fmt.Errorf("ceiling: %w", err)
		}
	}
	if report.Report, err = bench.Run(cmd.Context(), c, progress); err != nil {
		return err
	}
	if ceiling && len(report.Calls) > 0 && len(report.Ceiling.Calls) > 0 {
		report.Ratio = report.Calls[0].PerSecond / report.Ceiling.Calls[0].PerSecond
	}
	if err := out.print(cmd, report); err != nil {
		return err
	}
	if faults := report.Faults(c.FIFO); faults != "" {
		return errors.New(faults)
	}
	return nil
}

// runCeiling loads an empty handler in its own process, as the server is, with the producers of c.
func runCeiling(ctx context.Context, c bench.Config, w io.Writer) (*bench.Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	child := exec.CommandContext(ctx, self, "bench", "ceiling")
	child.Stderr = os.Stderr
	pipe, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	defer func() { cancel(); _ = child.Wait() }() // killed: its status is meaningless
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		return nil, err
	}
	c.Target.Endpoints, c.Target.Roots = []string{strings.TrimSpace(line)}, nil
	c.Consumers, c.Backlog, c.Queue, c.ServerPID = 0, 0, "ceiling", child.Process.Pid
	fmt.Fprintln(w, "ceiling: a handler that does nothing")
	return bench.Run(ctx, c, w)
}

// newCeiling is the server side of --ceiling.
func newCeiling() *cobra.Command {
	return &cobra.Command{
		Use:    "ceiling",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer := []byte(`{"MD5OfMessageBody":"","MessageId":"","QueueUrl":"http://ceiling/000000000000/ceiling"}`)
			return server.ServeHandler(cmd.Context(), "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					return
				}
				w.Header().Set("Content-Type", "application/x-amz-json-1.0")
				_, _ = w.Write(answer)
			}), func(endpoint string) { fmt.Fprintln(cmd.OutOrStdout(), endpoint) })
		},
	}
}

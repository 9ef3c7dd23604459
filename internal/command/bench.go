package command

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	c := bench.Config{
		Target: bench.Target{
			Endpoint: cmp.Or(os.Getenv("AWS_ENDPOINT_URL_SQS"), os.Getenv("AWS_ENDPOINT_URL"), "http://127.0.0.1:9324"),
			Region:   cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1"),
			KeyID:    os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"),
			Token: os.Getenv("AWS_SESSION_TOKEN"),
		},
		Producers: 16, Consumers: 32, Batch: 1, Size: 1024, Duration: 10 * time.Second, Groups: 64,
	}
	var preset string
	var ceiling, asJSON bool
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Load an SQS endpoint and check that every message arrives",
		Long: `Load an SQS endpoint and check that every message arrives.

Producers send and consumers receive and delete, each on a connection of its
own. The endpoint and the keys are those of the usual AWS variables. Presets are
the configurations of the SQS developer guide's Appendix A: single (16 and 32
connections), double (32 and 64), batched (12 and 20, ten messages a call).

With --pollers it makes no load: as many connections wait in long polls, and
messages are sent one at a time, to measure how soon each reaches its poller.

The exit status is 1 if a message was lost or, in a FIFO queue, came twice or out
of order.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p, ok := bench.Presets[preset]; ok {
				c.Producers, c.Consumers, c.Batch = p.Producers, p.Consumers, p.Batch
			}
			if c.Target.KeyID == "" || c.Target.Secret == "" {
				return errors.New("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
			}
			if c.Pollers > 0 && c.Queues == 0 {
				c.Queues = 1
			}
			if err := usage(c.Validate()); err != nil {
				return err
			}
			if c.Pollers > 0 {
				return runPollers(cmd, c, asJSON)
			}
			return runBench(cmd, c, ceiling, asJSON)
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
	f.IntVar(&c.Backlog, "backlog", 0, "messages to store before the measurement begins")
	f.StringVar(&c.Queue, "queue", "", "name of an existing queue (default: a new one, deleted afterwards)")
	f.StringVar(&c.Target.Endpoint, "endpoint", c.Target.Endpoint, "URL of the endpoint")
	f.BoolVar(&ceiling, "ceiling", false, "first load a handler that does nothing over the same HTTP stack, and give the ratio")
	f.IntVar(&c.Pollers, "pollers", 0, "connections with an idle long poll each, instead of a load")
	f.IntVar(&c.Queues, "queues", 0, "queues that the pollers wait for (default 1)")
	f.IntVar(&c.ServerPID, "server-pid", 0, "process id of the server, if it is on this machine: its memory is printed with --pollers")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON, and nothing else")
	notWith(f, "pollers", "preset", "producers", "consumers", "batch", "fifo", "groups", "backlog", "queue", "ceiling")
	notWith(f, "preset", "producers", "consumers", "batch")
	onlyWith(f, []string{"pollers"}, "queues", "server-pid")
	onlyWith(f, []string{"fifo"}, "groups")
	cmd.AddCommand(newCeiling())
	return cmd
}

func runPollers(cmd *cobra.Command, c bench.Config, asJSON bool) error {
	progress := cmd.OutOrStdout()
	if asJSON {
		progress = io.Discard
	}
	report, err := bench.RunPollers(cmd.Context(), c, progress)
	if err != nil {
		return err
	}
	if asJSON {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(report); err != nil {
			return err
		}
	} else {
		report.Print(progress)
	}
	if faults := report.Faults(); faults != "" {
		return errors.New(faults)
	}
	return nil
}

func runBench(cmd *cobra.Command, c bench.Config, ceiling, asJSON bool) error {
	var out struct {
		*bench.Report
		Ceiling *bench.Report `json:",omitempty"`
		Ratio   float64       `json:",omitempty"` // of the send calls per second to the ceiling's
	}
	progress := cmd.OutOrStdout()
	if asJSON {
		progress = io.Discard
	}
	if ceiling {
		report, err := runCeiling(cmd.Context(), c, progress)
		if err != nil {
			return fmt.Errorf("ceiling: %w", err)
		}
		out.Ceiling = report
	}
	report, err := bench.Run(cmd.Context(), c, progress)
	if err != nil {
		return err
	}
	out.Report = report
	if ceiling && len(report.Calls) > 0 && len(out.Ceiling.Calls) > 0 {
		out.Ratio = report.Calls[0].PerSecond / out.Ceiling.Calls[0].PerSecond
	}
	if asJSON {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(out); err != nil {
			return err
		}
	} else {
		report.Print(progress)
		if ceiling {
			fmt.Fprintf(progress, "\n%.0f%% of the %.0f calls/s that the HTTP stack does with an empty handler\n",
				100*out.Ratio, out.Ceiling.Calls[0].PerSecond)
		}
	}
	if faults := report.Faults(c.FIFO); faults != "" {
		return errors.New(faults)
	}
	return nil
}

// runCeiling loads an empty handler in a process of its own, as the server has
// one, with the producers of c.
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
	defer func() { cancel(); _ = child.Wait() }() // killed: its status says nothing
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		return nil, err
	}
	c.Target.Endpoint = strings.TrimSpace(line)
	c.Consumers, c.Backlog, c.Queue = 0, 0, "ceiling"
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

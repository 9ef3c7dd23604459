package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// A command that waits for a task checks it often at first, because most tasks are short, and then every
// redriveInterval. It prints the progress as often.
const (
	firstRedriveLook = 25 * time.Millisecond
	redriveInterval  = time.Second
)

// redriveWatch is a wait for a task.
type redriveWatch struct {
	pause time.Duration
	said  time.Time
}

func watchRedrive() *redriveWatch { return &redriveWatch{pause: firstRedriveLook, said: time.Now()} }

// tells reports whether it is time to print the progress.
func (w *redriveWatch) tells() bool {
	if time.Since(w.said) < redriveInterval {
		return false
	}
	w.said = time.Now()
	return true
}

// wait waits until the next check. It returns an error if ctx ends before.
func (w *redriveWatch) wait(ctx context.Context) error {
	if err := wait.For(ctx, w.pause); err != nil {
		return fmt.Errorf("the messages are still being moved; sluice queue redrive cancel stops that: %w", err)
	}
	w.pause = min(2*w.pause, redriveInterval)
	return nil
}

func newQueueRedrive(server *clientFlags) *cobra.Command {
	var to string
	var rate int
	var noWait bool
	var selected selectFlags
	cmd := &cobra.Command{
		Use:   "redrive QUEUE [TERM...]",
		Short: "Move the messages of a dead-letter queue back",
		Long: `Move the messages of a dead-letter queue back to their source queues, or to another one,
and print the progress. The server moves them, even if this command is stopped, until
sluice queue redrive cancel. Messages in flight stay.

With terms as in sluice queue peek, or with ids, it selects messages, and can edit them.
Sluice only; this needs sluice:RedriveMessages and sluice:ListRedriveTasks,
sluice:EditMessage to edit, and sluice:PeekMessages and sluice:PeekMessageBody for
--dry-run.`,
		Example: `  sluice queue redrive failed-jobs
  sluice queue redrive failed-jobs --to inspection --rate 10
  sluice queue redrive failed-jobs body.order.customer:17 'sent>2026-11-01' --dry-run
  sluice queue redrive failed-jobs --id 5ec5b5a4-3c1f-4b5e-9d0c-2f1b6c1d9a3e --set-body '{"order": 17}'`,
		Args:              arguments("QUEUE", "[TERM...]"),
		ValidArgsFunction: completeQueues(server),
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "queue to move the messages to (default: where each came from)")
	f.IntVar(&rate, "rate", 0, "maximum messages per second, up to 500 (default: the server decides)")
	f.BoolVar(&noWait, "no-wait", false, "return when the task has begun")
	selected.add(f)
	must(cmd.RegisterFlagCompletionFunc("to", completeQueueFlag(server)))
	cmd.AddCommand(newRedriveList(server), newRedriveShow(server), newRedriveCancel(server))
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		selected.edits = f.Changed("set-body")
		if selected.selects(c.args[1:]) {
			return selected.run(ctx, c, to, rate, noWait)
		}
		source, err := c.startMove(ctx, c.args[0], to, rate)
		if err != nil {
			return nil, err
		}
		if noWait {
			return done{"the messages are being moved; sluice queue redrive ls shows how far that is"}, nil
		}
		task, err := waitMoved(ctx, c.client, source, c.progress)
		if err != nil {
			return nil, err
		}
		if task.Status != "COMPLETED" {
			err = fmt.Errorf("the task is %s %s", task.Status, task.FailureReason)
		}
		return task, err
	})
}

// startMove starts a task, and returns the ARN of the queue that it empties.
func (c *client) startMove(ctx context.Context, queue, to string, rate int) (string, error) {
	source, err := c.queueARN(ctx, queue)
	if err != nil {
		return "", err
	}
	in := map[string]any{"SourceArn": source}
	if to != "" {
		if in["DestinationArn"], err = c.queueARN(ctx, to); err != nil {
			return "", fmt.Errorf("--to %s: %w", to, err)
		}
	}
	if rate != 0 {
		in["MaxNumberOfMessagesPerSecond"] = rate
	}
	return source, c.sqs(ctx, "StartMessageMoveTask", in, nil)
}

// moveTask is a task that moves messages.
type moveTask struct {
	Status         string
	TaskHandle     string `json:",omitempty"` // while it runs
	SourceArn      string
	DestinationArn string `json:",omitempty"`
	Moved          int64  `json:"ApproximateNumberOfMessagesMoved"`
	ToMove         int64  `json:"ApproximateNumberOfMessagesToMove"`
	FailureReason  string `json:",omitempty"`
	Started        int64  `json:"StartedTimestamp"` // milliseconds
}

func (t *moveTask) running() bool { return t.Status == "RUNNING" || t.Status == "CANCELLING" }

func (t *moveTask) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, countMoved(t.Moved))
	return err
}

// countMoved describes how many messages were moved.
func countMoved(n int64) string {
	if n == 1 {
		return "1 message moved"
	}
	return fmt.Sprintf("%d messages moved", n)
}

// moveTasks is the answer of queue redrive ls.
type moveTasks struct{ Results []*moveTask }

func (c *client) moveTasks(ctx context.Context, source string) (*moveTasks, error) {
	tasks := &moveTasks{Results: []*moveTask{}}
	return tasks, c.sqs(ctx, "ListMessageMoveTasks", map[string]any{"SourceArn": source, "MaxResults": 10}, tasks)
}

func (t *moveTasks) text(w io.Writer) error {
	var rows [][]string
	for _, task := range t.Results {
		to := "where they came from"
		if task.DestinationArn != "" {
			to = task.DestinationArn
		}
		rows = append(rows, []string{
			timeOf(strconv.FormatInt(task.Started, 10)), task.Status, strconv.FormatInt(task.Moved, 10),
			strconv.FormatInt(task.ToMove, 10), to, task.FailureReason,
		})
	}
	return printTable(w, []string{"STARTED", "STATUS", "MOVED", "OF", "TO", "REASON"}, rows)
}

// waitMoved waits until the newest task of a queue is done, and prints the progress.
func waitMoved(ctx context.Context, c *client, source string, progress io.Writer) (*moveTask, error) {
	for watch := watchRedrive(); ; {
		tasks, err := c.moveTasks(ctx, source)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the messages are being moved, but how far that is cannot be seen: %w", err)
		case len(tasks.Results) == 0:
			return nil, errors.New("the task is not listed any more")
		}
		task := tasks.Results[0]
		if !task.running() {
			return task, nil
		}
		if watch.tells() {
			fmt.Fprintf(progress, "%d of about %d messages moved\n", task.Moved, task.ToMove)
		}
		if err := watch.wait(ctx); err != nil {
			return nil, err
		}
	}
}

func newRedriveList(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "ls QUEUE",
		Short:             "List the last tasks that moved messages out of a queue",
		Example:           "  sluice queue redrive ls failed-jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		source, err := c.queueARN(ctx, c.args[0])
		if err != nil {
			return nil, err
		}
		return answerOr(c.moveTasks(ctx, source))
	})
}

func newRedriveCancel(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "cancel QUEUE",
		Short:             "Stop the task that moves messages out of a queue",
		Long:              `Stop the task that moves messages out of a queue. Moved messages stay moved.`,
		Example:           "  sluice queue redrive cancel failed-jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		return answerOr(c.cancelMove(ctx, c.args[0]))
	})
}

// cancelled is the answer of queue redrive cancel.
type cancelled struct {
	Moved int64 `json:"ApproximateNumberOfMessagesMoved"`
}

func (c cancelled) text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "the task is being stopped, after %d messages\n", c.Moved)
	return err
}

func (c *client) cancelMove(ctx context.Context, queue string) (cancelled, error) {
	source, err := c.queueARN(ctx, queue)
	if err != nil {
		return cancelled{}, err
	}
	tasks, err := c.moveTasks(ctx, source)
	if err != nil {
		return cancelled{}, err
	}
	for _, task := range tasks.Results {
		if task.Status == "RUNNING" {
			out := new(cancelled)
			err := c.sqs(ctx, "CancelMessageMoveTask", map[string]string{"TaskHandle": task.TaskHandle}, out)
			return *out, err
		}
	}
	return cancelled{}, fmt.Errorf("no task moves messages out of %s", queue)
}

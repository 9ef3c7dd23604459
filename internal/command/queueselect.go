package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// selectFlags are the flags of queue redrive that select and edit messages. With any of them, or with terms, the
// command uses one of Sluice's own operations.
type selectFlags struct {
	ids    []string
	body   string
	edits  bool // body was given
	set    []string
	remove []string
	dryRun bool
	most   int
}

func (s *selectFlags) add(f *pflag.FlagSet) {
	s.most = 10
	f.StringArrayVar(&s.ids, "id", nil, "move the message of this id; repeatable, up to 1000")
	f.StringVar(&s.body, "set-body", "", "give the messages this body")
	f.StringArrayVar(&s.set, "set-attribute", nil,
		"give the messages an attribute, as name=value or name:Number=value; repeatable")
	f.StringArrayVar(&s.remove, "remove-attribute", nil, "remove an attribute from the messages; repeatable")
	f.BoolVar(&s.dryRun, "dry-run", false, "show the messages, and move nothing")
	f.IntVar(&s.most, "max", s.most, "maximum number of messages to show")
	onlyWith(f, []string{"dry-run"}, "max")
	notWith(f, "dry-run", "rate", "no-wait")
}

// selects reports whether the flags select or edit messages.
func (s *selectFlags) selects(terms []string) bool {
	return len(terms)+len(s.ids)+len(s.set)+len(s.remove) > 0 || s.edits || s.dryRun
}

// input returns the input of RedriveMessages.
func (s *selectFlags) input(
	ctx context.Context, c *client, url, to string, rate int, terms []string,
) (map[string]any, error) {
	in := map[string]any{"QueueUrl": url, "Filter": strings.Join(terms, " "), "MessageIds": s.ids}
	var err error
	if to != "" {
		if in["DestinationArn"], err = c.queueARN(ctx, to); err != nil {
			return nil, fmt.Errorf("--to %s: %w", to, err)
		}
	}
	if rate != 0 {
		in["MaxNumberOfMessagesPerSecond"] = rate
	}
	edit := make(map[string]any)
	if s.edits {
		edit["Body"] = s.body
	}
	if len(s.set) > 0 {
		if edit["SetAttributes"], err = messageAttributes("--set-attribute", s.set); err != nil {
			return nil, usage(err)
		}
	}
	if len(s.remove) > 0 {
		edit["RemoveAttributes"] = s.remove
	}
	if len(edit) > 0 {
		in["Edit"] = edit
	}
	return in, nil
}

// run moves the messages and waits for the end, or shows them.
func (s *selectFlags) run(ctx context.Context, c *call, to string, rate int, noWait bool) (answer, error) {
	url, err := c.queueURL(ctx, c.args[0])
	if err != nil {
		return nil, err
	}
	in, err := s.input(ctx, c.client, url, to, rate, c.args[1:])
	if err != nil {
		return nil, err
	}
	if s.dryRun {
		return answerOr(s.look(ctx, c.client, in))
	}
	if err := c.sluice(ctx, "RedriveMessages", in, nil); err != nil {
		return nil, err
	}
	if noWait {
		return done{"the messages are being moved; sluice queue redrive show shows how far that is"}, nil
	}
	return redriven(waitRedriven(ctx, c.client, url, c.progress))
}

// look shows what would be moved.
func (s *selectFlags) look(ctx context.Context, c *client, in map[string]any) (*peeked, error) {
	if s.most < 1 {
		return nil, usage(fmt.Errorf("--max %d: want 1 or more", s.most))
	}
	in["DryRun"], in["IncludeBody"] = true, true
	all := &peeked{Messages: []peekedMessage{}}
	for {
		in["Cursor"], in["Max"] = all.Cursor, min(peekPage, s.most-len(all.Messages))
		var page peeked
		if err := c.sluice(ctx, "RedriveMessages", in, &page); err != nil {
			return nil, err
		}
		all.Messages, all.Scanned = append(all.Messages, page.Messages...), all.Scanned+page.Scanned
		all.Total, all.Cursor = page.Total, page.Cursor
		if all.Cursor == "" || len(all.Messages) >= s.most {
			return all, nil
		}
	}
}

// redriveTask is a task as ListRedriveTasks shows it, and the answer of queue redrive show.
type redriveTask struct {
	TaskHandle                   string `json:",omitempty"`
	Status                       string
	StartedTimestamp             int64
	EndedTimestamp               int64  `json:",omitempty"`
	DestinationArn               string `json:",omitempty"`
	MaxNumberOfMessagesPerSecond int32  `json:",omitempty"`
	Selects                      bool
	Filter                       string `json:",omitempty"`
	MessageIds                   int64
	Edited                       bool
	Scanned                      int64
	Total                        int64
	Moved                        int64
	Skipped                      int64
	FailureReason                string `json:",omitempty"`
	Results                      []struct {
		MessageId    string
		Outcome      string
		NewMessageId string `json:",omitempty"`
	} `json:",omitempty"`
}

func newestTask(ctx context.Context, c *client, url string) (*redriveTask, error) {
	var out struct{ Tasks []*redriveTask }
	if err := c.sluice(ctx, "ListRedriveTasks", map[string]string{"QueueUrl": url}, &out); err != nil {
		return nil, err
	}
	if len(out.Tasks) == 0 {
		return nil, errors.New("no task has moved messages out of the queue lately")
	}
	return out.Tasks[0], nil
}

// waitRedriven waits until the newest task of a queue is done, and prints the progress.
func waitRedriven(ctx context.Context, c *client, url string, progress io.Writer) (*redriveTask, error) {
	for watch := watchRedrive(); ; {
		task, err := newestTask(ctx, c, url)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the messages are being moved, but how far that is cannot be seen: %w", err)
		case task.Status != "RUNNING":
			return task, nil
		}
		if watch.tells() {
			fmt.Fprintf(progress, "looked at %d of about %d messages, moved %d\n", task.Scanned, task.Total, task.Moved)
		}
		if err := watch.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// redriven is the answer when a task has ended.
func redriven(task *redriveTask, err error) (answer, error) {
	if err != nil {
		return nil, err
	}
	if task.Status != "COMPLETED" {
		err = fmt.Errorf("the task is %s %s", task.Status, task.FailureReason)
	}
	return task, err
}

// outcomeWords describe why a message was not moved.
var outcomeWords = map[string]string{
	"Moved": "moved", "NotVisible": "in flight or delayed",
	"NoSource":      "does not say where it came from, or not from where it may go back to",
	"NoDestination": "its source queue no longer exists", "TooLarge": "too large after the edit",
}

func (t *redriveTask) text(w io.Writer) error {
	if t.Status != "COMPLETED" {
		fmt.Fprintf(w, "%s %s, looked at %d of about %d messages\n", t.Status, t.FailureReason, t.Scanned, t.Total)
	}
	fmt.Fprintf(w, "%s", countMoved(t.Moved))
	if t.Skipped > 0 {
		fmt.Fprintf(w, ", %d left where they are", t.Skipped)
	}
	fmt.Fprintln(w)
	for _, r := range t.Results {
		if r.Outcome != "Moved" {
			fmt.Fprintf(w, "%s: %s\n", r.MessageId, outcomeWords[r.Outcome])
		}
	}
	return nil
}

func newRedriveShow(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show QUEUE",
		Short: "Show the progress of the last task that moved messages out of a queue",
		Long: `Show the progress of the last task that moved messages out of a queue, and the results
for its last hundred messages. Sluice only; needs sluice:ListRedriveTasks.`,
		Example:           "  sluice queue redrive show failed-jobs --json",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		return answerOr(newestTask(ctx, c.client, url))
	})
}

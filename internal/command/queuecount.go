package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newQueueCount(server *clientFlags) *cobra.Command {
	var by string
	most := 20
	cmd := &cobra.Command{
		Use:   "count QUEUE --by KEY [TERM...]",
		Short: "Count messages by one of their values, without receiving them",
		Long: `Count messages by one of their values, such as dead letters by their error, in any state and
without receiving them. Sluice only; needs sluice:PeekMessages, and sluice:PeekMessageBody
for keys and terms that look into bodies.

KEY is attr.NAME, body.PATH, source, sender, group, count (of receives) or day (UTC). Each
line ends with the terms that select its messages.`,
		Example: `  sluice queue count failed-jobs --by body.error
  sluice queue redrive failed-jobs 'body.error:"timeout"'`,
		Args:              arguments("QUEUE", "[TERM...]"),
		ValidArgsFunction: completeQueues(server),
	}
	f := cmd.Flags()
	f.StringVar(&by, "by", "", "key to count by")
	f.IntVar(&most, "max", most, "most groups to show")
	_ = cmd.MarkFlagRequired("by")
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		if most < 1 {
			return nil, usage(fmt.Errorf("--max %d: want 1 or more", most))
		}
		out, err := countMessages(ctx, c, map[string]any{
			"QueueUrl": url, "By": by, "Filter": strings.Join(c.args[1:], " "),
		})
		if err != nil {
			return nil, err
		}
		out.limit(most)
		return out, nil
	})
}

// counted is the answer of queue count, the largest groups first.
type counted struct {
	Groups  []countedGroup
	Others  int64 `json:",omitempty"` // messages of groups that are not shown
	Found   int64
	Scanned int64
	Total   int64
}

type countedGroup struct {
	Value           *string `json:",omitempty"`
	Cut             bool    `json:",omitempty"`
	Unreadable      bool    `json:",omitempty"`
	Filter          string  `json:",omitempty"`
	Messages        int64
	NewestTimestamp int64
}

// countMessages counts all messages, in as many calls as the server needs.
func countMessages(ctx context.Context, c *call, in map[string]any) (*counted, error) {
	all := &counted{Groups: []countedGroup{}}
	at := make(map[string]int)
	said := time.Now()
	for {
		var page struct {
			counted
			Cursor string
		}
		if err := c.sluice(ctx, "CountMessages", in, &page); err != nil {
			return nil, err
		}
		all.add(&page.counted, at)
		if page.Cursor == "" {
			return all, nil
		}
		in["Cursor"] = page.Cursor
		if time.Since(said) > time.Second {
			said = time.Now()
			fmt.Fprintf(c.progress, "looked at %d of about %d messages\n", all.Scanned, all.Total)
		}
	}
}

// add adds the groups of a page. at has the places of those that are known.
func (a *counted) add(page *counted, at map[string]int) {
	for _, g := range page.Groups {
		key := fmt.Sprint(g.name(), g.Cut, g.Value == nil)
		i, known := at[key]
		if !known {
			at[key] = len(a.Groups)
			a.Groups = append(a.Groups, g)
			continue
		}
		have := &a.Groups[i]
		have.Messages += g.Messages
		have.NewestTimestamp = max(have.NewestTimestamp, g.NewestTimestamp)
	}
	a.Found += page.Found
	a.Scanned += page.Scanned
	a.Total = page.Total
}

// limit leaves the largest groups, in order.
func (a *counted) limit(most int) {
	slices.SortStableFunc(a.Groups, func(x, y countedGroup) int { return cmp.Compare(y.Messages, x.Messages) })
	for len(a.Groups) > most {
		last := len(a.Groups) - 1
		a.Others += a.Groups[last].Messages
		a.Groups = a.Groups[:last]
	}
}

// name is what a person calls the group.
func (g *countedGroup) name() string {
	switch {
	case g.Unreadable:
		return "(cannot be decrypted)"
	case g.Value == nil:
		return "(none)"
	case g.Cut:
		return *g.Value + "…"
	}
	return *g.Value
}

func (a *counted) text(w io.Writer) error {
	var rows [][]string
	for _, g := range a.Groups {
		rows = append(rows, []string{strconv.FormatInt(g.Messages, 10), g.name(), g.Filter})
	}
	if err := printTable(w, []string{"MESSAGES", "VALUE", "TERMS"}, rows); err != nil {
		return err
	}
	text := fmt.Sprintf("%d found, looked at %d of %d", a.Found, a.Scanned, a.Total)
	if a.Others > 0 {
		text += fmt.Sprintf("; %d in groups that are not shown, see --max", a.Others)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

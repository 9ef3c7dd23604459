package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/tool/days"
)

// trailFilter selects the events that sluice trail shows: those that match all of it.
type trailFilter struct {
	user, event, resource, source, key string

	since, until string
	changes      bool
	refused      bool
	limit        int
}

func newTrail() *cobra.Command {
	server := new(clientFlags)
	f := trailFilter{limit: 50}
	cmd := &cobra.Command{
		Use:   "trail",
		Short: "Show who changed or read the configuration",
		Long: `Show who changed or read the configuration: the management events of CloudTrail, for the
last 90 days, the newest first. This works with AWS as well, and needs
cloudtrail:LookupEvents. --json prints events as CloudTrail writes them.

The commands below set up trails, which write events to buckets as files.`,
		Example: `  sluice trail --changes --since 24h
  sluice trail --user bob --refused
  sluice trail --resource jobs --event SetQueueAttributes --json`,
		Args: noArguments,
	}
	section(cmd.Flags(), "Which events", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.user, "user", "", "of a user, a session of a role, or root")
		flags.StringVar(&f.event, "event", "", "of an operation, such as DeleteQueue")
		flags.StringVar(&f.resource, "resource", "", "about a queue, topic or user, by its name or ARN")
		flags.StringVar(&f.source, "service", "", "of a service: sqs, sns, iam, sts, monitoring or cloudtrail")
		flags.StringVar(&f.key, "access-key-id", "", "of calls signed with a key")
		flags.StringVar(&f.since, "since", "",
			"from a time on, such as 2026-11-22T09:00:00Z, or a duration ago, such as 24h or 7d")
		flags.StringVar(&f.until, "until", "", "up to a time")
		flags.BoolVar(&f.changes, "changes", false, "only of calls that change something")
		flags.BoolVar(&f.refused, "refused", false, "only of calls that were refused")
		flags.IntVar(&f.limit, "limit", f.limit, "maximum number of events to show; 0 means all")
	})
	server.add(cmd, "CLOUDTRAIL")
	cmd.AddCommand(
		newTrailList(server), newTrailShow(server), newTrailCreate(server), newTrailSelectors(server),
		newTrailChange(server, "start", "Turn a trail on", "StartLogging"),
		newTrailChange(server, "stop", "Turn a trail off; waiting events are still delivered", "StopLogging"),
		newTrailChange(server, "rm", "Remove a trail and its waiting events; its files stay", "DeleteTrail"),
		newTrailValidate(server),
	)
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		return answerOr(f.find(ctx, c.client))
	})
}

// trailEvent is an event in the text output of sluice trail.
type trailEvent struct {
	EventTime, EventSource, EventName, SourceIPAddress, ErrorCode string

	UserIdentity struct{ Type, ARN, UserName string }
	Resources    []struct{ ARN string }
}

// trailEvents is the answer of trail.
type trailEvents struct{ Records []json.RawMessage }

func (e *trailEvents) text(w io.Writer) error {
	var rows [][]string
	for _, record := range e.Records {
		var one trailEvent
		if err := json.Unmarshal(record, &one); err != nil {
			return fmt.Errorf("an event cannot be read: %w", err)
		}
		about := ""
		for _, r := range one.Resources {
			about = r.ARN
		}
		who := one.UserIdentity.ARN
		if i := strings.LastIndexByte(who, ':'); i >= 0 {
			who = who[i+1:]
		}
		service, _, _ := strings.Cut(one.EventSource, ".")
		rows = append(rows, []string{
			one.EventTime, who, service, one.EventName, about, one.SourceIPAddress, one.ErrorCode,
		})
	}
	return printTable(w, []string{"TIME", "WHO", "SERVICE", "EVENT", "ABOUT", "FROM", "REFUSED"}, rows)
}

// lookup returns the filter for the server, which accepts only one. The others are applied here.
func (f *trailFilter) lookup(now time.Time) (map[string]any, error) {
	in := make(map[string]any)
	source := f.source
	if source != "" {
		source += ".amazonaws.com"
	}
	for _, one := range [][2]string{
		{"AccessKeyId", f.key}, {"ResourceName", f.resource}, {"Username", f.user}, {"EventName", f.event},
		{"EventSource", source},
	} {
		if one[1] != "" {
			in["LookupAttributes"] = []map[string]string{{"AttributeKey": one[0], "AttributeValue": one[1]}}
			break
		}
	}
	if in["LookupAttributes"] == nil && f.changes {
		in["LookupAttributes"] = []map[string]string{{"AttributeKey": "ReadOnly", "AttributeValue": "false"}}
	}
	for name, text := range map[string]string{"StartTime": f.since, "EndTime": f.until} {
		if text == "" {
			continue
		}
		at, err := parseTime(text, now)
		if err != nil {
			return nil, usage(err)
		}
		in[name] = at.Unix()
	}
	return in, nil
}

// parseTime parses a time, or a duration before now.
func parseTime(text string, now time.Time) (time.Time, error) {
	if ago, err := days.Parse(text); err == nil {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("%q: want a time such as 2026-11-22T09:00:00Z, or how long ago it was, such as 24h or 7d", text)
	}
	return at, nil
}

func (f *trailFilter) find(ctx context.Context, c *client) (*trailEvents, error) {
	in, err := f.lookup(time.Now())
	if err != nil {
		return nil, err
	}
	events := &trailEvents{Records: []json.RawMessage{}}
	for {
		var page struct {
			Events []struct {
				AccessKeyId, CloudTrailEvent, EventName, EventSource, ReadOnly, Username string

				Resources []struct{ ResourceName string }
			}
			NextToken string
		}
		if err := c.callJSON(ctx, "cloudtrail", "CloudTrail_20131101", "LookupEvents", in, &page); err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			about := f.resource == ""
			for _, r := range e.Resources {
				about = about || r.ResourceName == f.resource || strings.HasSuffix(r.ResourceName, ":"+f.resource) ||
					strings.HasSuffix(r.ResourceName, "/"+f.resource)
			}
			var refusal struct{ ErrorCode string }
			if err := json.Unmarshal([]byte(e.CloudTrailEvent), &refusal); err != nil {
				return nil, fmt.Errorf("an event cannot be read: %w", err)
			}
			source := strings.TrimSuffix(e.EventSource, ".amazonaws.com")
			if about && isOrAny(e.Username, f.user) && isOrAny(e.EventName, f.event) && isOrAny(source, f.source) &&
				isOrAny(e.AccessKeyId, f.key) && (!f.changes || e.ReadOnly == "false") &&
				(!f.refused || refusal.ErrorCode != "") {
				events.Records = append(events.Records, json.RawMessage(e.CloudTrailEvent))
			}
			if f.limit > 0 && len(events.Records) == f.limit {
				return events, nil
			}
		}
		if page.NextToken == "" {
			return events, nil
		}
		in["NextToken"] = page.NextToken
	}
}

func isOrAny(value, wanted string) bool { return wanted == "" || value == wanted }

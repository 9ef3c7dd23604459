package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// cloudtrail calls an operation of CloudTrail. out may be nil.
func (c *client) cloudtrail(ctx context.Context, action string, in, out any) error {
	return c.callJSON(ctx, "cloudtrail", "CloudTrail_20131101", action, in, out)
}

// shownTrail is a trail in a list.
type shownTrail struct {
	Name, TrailARN, HomeRegion, S3BucketName, S3KeyPrefix, SnsTopicARN string

	IsMultiRegionTrail, LogFileValidationEnabled, HasCustomEventSelectors, IsLogging bool
	LatestDeliveryAttemptSucceeded, LatestDeliveryError                              string
	LatestDigestDeliveryError, LatestNotificationError                               string
}

// regions describes the regions whose events a trail receives.
func (t *shownTrail) regions() string {
	if t.IsMultiRegionTrail {
		return "all"
	}
	return t.HomeRegion
}

// bucket describes where a trail's files are delivered.
func (t *shownTrail) bucket() string {
	if t.S3KeyPrefix == "" {
		return t.S3BucketName
	}
	return t.S3BucketName + "/" + t.S3KeyPrefix
}

// state describes whether a trail works.
func (t *shownTrail) state() string {
	switch {
	case !t.IsLogging:
		return "off"
	case t.LatestDeliveryError != "":
		return "on, fails: " + t.LatestDeliveryError
	}
	return "on"
}

// describeTrails returns the caller's trails, or the one with a name, with their delivery states.
func (c *client) describeTrails(ctx context.Context, names ...string) ([]*shownTrail, error) {
	in := map[string]any{}
	if len(names) > 0 {
		in["trailNameList"] = names
	}
	var out struct {
		TrailList []*shownTrail `json:"trailList"`
	}
	if err := c.cloudtrail(ctx, "DescribeTrails", in, &out); err != nil {
		return nil, err
	}
	if len(names) > 0 && len(out.TrailList) == 0 {
		return nil, fmt.Errorf("there is no trail %s in this region", names[0])
	}
	for _, t := range out.TrailList {
		if err := c.cloudtrail(ctx, "GetTrailStatus", map[string]string{"Name": t.TrailARN}, t); err != nil {
			return nil, err
		}
	}
	return out.TrailList, nil
}

// trailList is the answer of trail ls.
type trailList struct{ Trails []*shownTrail }

func newTrailList(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List trails",
		Example: "  sluice trail ls",
		Args:    noArguments,
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		all, err := c.describeTrails(ctx)
		return answerOr(&trailList{all}, err)
	})
}

func (l *trailList) text(w io.Writer) error {
	var rows [][]string
	for _, t := range l.Trails {
		rows = append(rows, []string{t.Name, t.regions(), t.bucket(), t.state(), t.LatestDeliveryAttemptSucceeded})
	}
	return printTable(w, []string{"TRAIL", "REGIONS", "BUCKET", "STATE", "DELIVERED"}, rows)
}

// trailDetails is the answer of trail show.
type trailDetails struct {
	Trail          *shownTrail
	EventSelectors json.RawMessage
}

func newTrailShow(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show TRAIL",
		Short:   "Show a trail: its selectors, its bucket, and the state of its deliveries",
		Example: "  sluice trail show all",
		Args:    arguments("TRAIL"),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		all, err := c.describeTrails(ctx, c.args[0])
		if err != nil {
			return nil, err
		}
		d := &trailDetails{Trail: all[0]}
		d.EventSelectors, err = c.selectors(ctx, d.Trail.TrailARN)
		return answerOr(d, err)
	})
}

func (d *trailDetails) text(w io.Writer) error {
	t := d.Trail
	digests := "no"
	if t.LogFileValidationEnabled {
		digests = "every hour"
	}
	for _, line := range [][2]string{
		{"trail", t.TrailARN}, {"state", t.state()}, {"events of", t.regions()}, {"bucket", t.bucket()},
		{"digests", digests},
		{"topic", t.SnsTopicARN}, {"last delivery", t.LatestDeliveryAttemptSucceeded},
		{"last digest failed", t.LatestDigestDeliveryError}, {"last message failed", t.LatestNotificationError},
		{"selectors", string(d.EventSelectors)},
	} {
		if line[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-20s %s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	return nil
}

// selectors returns the selectors of a trail: the one of the two lists that is set.
func (c *client) selectors(ctx context.Context, trail string) (json.RawMessage, error) {
	var out struct{ AdvancedEventSelectors, EventSelectors json.RawMessage }
	if err := c.cloudtrail(ctx, "GetEventSelectors", map[string]string{"TrailName": trail}, &out); err != nil {
		return nil, err
	}
	if len(out.AdvancedEventSelectors) > 0 {
		return out.AdvancedEventSelectors, nil
	}
	return out.EventSelectors, nil
}

// trailDone is the answer of commands that change a trail.
type trailDone struct{ TrailARN string }

func (t *trailDone) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, t.TrailARN)
	return err
}

func newTrailCreate(server *clientFlags) *cobra.Command {
	var bucket, prefix, topic string
	var all, digests, off bool
	var tags []string
	cmd := &cobra.Command{
		Use:   "create TRAIL --bucket BUCKET",
		Short: "Create a trail, turn it on, and print its ARN",
		Long: `Create a trail, turn it on, and print its ARN. It writes the events of its region, about
every five minutes, to a bucket: a directory in the server's --trail-dir, or a bucket of
--trail-s3-endpoint.`,
		Example: "  sluice trail create all --bucket audit --all-regions --digests",
		Args:    arguments("TRAIL"),
	}
	f := cmd.Flags()
	f.StringVar(&bucket, "bucket", "", "bucket that the files go to")
	f.StringVar(&prefix, "prefix", "", "prefix of the files' names")
	f.StringVar(&topic, "topic", "", "topic to publish to for each file")
	f.BoolVar(&all, "all-regions", false, "write the events of all regions")
	f.BoolVar(
		&digests,
		"digests",
		false,
		"sign a list of the files every hour, for sluice trail validate",
	)
	f.BoolVar(&off, "off", false, "do not turn it on yet")
	f.StringArrayVar(&tags, "tag", nil, "tag, as key=value; repeatable")
	must(cmd.MarkFlagRequired("bucket"))
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		in := map[string]any{
			"Name":                    c.args[0],
			"S3BucketName":            bucket,
			"S3KeyPrefix":             prefix,
			"IsMultiRegionTrail":      all,
			"EnableLogFileValidation": digests,
		}
		if topic != "" {
			in["SnsTopicName"] = topic
		}
		tagged, err := pairs("--tag", tags)
		if err != nil {
			return nil, usage(err)
		}
		list := []map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(tagged)) {
			list = append(list, map[string]string{"Key": key, "Value": tagged[key]})
		}
		in["TagsList"] = list
		made := new(trailDone)
		if err := c.cloudtrail(ctx, "CreateTrail", in, made); err != nil {
			return nil, err
		}
		if !off {
			err = c.cloudtrail(ctx, "StartLogging", map[string]string{"Name": made.TrailARN}, nil)
		}
		return answerOr(made, err)
	})
}

// newTrailChange returns a command for an operation on a trail without an answer.
func newTrailChange(server *clientFlags, name, short, operation string) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " TRAIL", Short: short, Example: "  sluice trail " + name + " all", Args: arguments("TRAIL"),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		all, err := c.describeTrails(ctx, c.args[0])
		if err != nil {
			return nil, err
		}
		done := &trailDone{all[0].TrailARN}
		return answerOr(done, c.cloudtrail(ctx, operation, map[string]string{"Name": done.TrailARN}, nil))
	})
}

// trailSelectors is the answer of trail selectors.
type trailSelectors struct{ Selectors json.RawMessage }

func (s *trailSelectors) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, string(s.Selectors))
	return err
}

func newTrailSelectors(server *clientFlags) *cobra.Command {
	set := false
	cmd := &cobra.Command{
		Use:   "selectors TRAIL",
		Short: "Show or set the event selectors of a trail",
		Long: `Show which events a trail gets, or set it to the advanced event selectors of CloudTrail
on standard input, a JSON list.`,
		Example: `  sluice trail selectors all
  echo '[{"FieldSelectors": [{"Field": "eventCategory", "Equals": ["Management"]}]}]' |
    sluice trail selectors all --set`,
		Args: arguments("TRAIL"),
	}
	cmd.Flags().BoolVar(&set, "set", false, "set the selectors to those on standard input")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if set {
			text, err := io.ReadAll(io.LimitReader(c.in, maxLine+1))
			if err != nil {
				return nil, err
			}
			if !json.Valid(text) || !strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
				return nil, usage(errors.New("the selectors on standard input must be a JSON list"))
			}
			in := map[string]any{"TrailName": c.args[0], "AdvancedEventSelectors": json.RawMessage(text)}
			if err := c.cloudtrail(ctx, "PutEventSelectors", in, nil); err != nil {
				return nil, err
			}
		}
		all, err := c.selectors(ctx, c.args[0])
		return answerOr(&trailSelectors{all}, err)
	})
}

// inSeconds returns a time in CloudTrail's JSON form.
func inSeconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }

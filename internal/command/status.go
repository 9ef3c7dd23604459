package command

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/doctor"
)

func newStatus() *cobra.Command {
	server := new(clientFlags)
	var out output
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the status of a server or a cluster",
		Long: `Show the status of a server, or of all nodes of a cluster together: version, uptime,
free disk space, queues, messages, dead letters, alarms, backups, and problems. The
oldest message is as of the last minute; a backup is known until its server restarts.

The exit status is 0 if all is well, 1 if not, and 2 if that could not be found out.
Dead letters and alarms do not count. Needs sluice:DescribeServer in the first account.`,
		Example: `  sluice status
  sluice status --json | jq .Messages.DeadLetters`,
		Args: noArguments,
		RunE: asked(func(cmd *cobra.Command, _ []string) error {
			c, err := server.client()
			if err != nil {
				return err
			}
			s := &serverStatus{now: time.Now()}
			if err := c.sluice(cmd.Context(), "DescribeServer", struct{}{}, &s.ServerStatus); err != nil {
				return err
			}
			if err := out.print(cmd, s); err != nil {
				return err
			}
			if len(s.Problems) > 0 {
				return newVerdict("not well")
			}
			return nil
		}),
	}
	server.add(cmd, "SLUICE")
	out.add(cmd)
	return cmd
}

// serverStatus is the answer of status.
type serverStatus struct {
	admin.ServerStatus
	now time.Time
}

func (s *serverStatus) text(w io.Writer) error {
	if err := s.printNodes(w); err != nil {
		return err
	}
	m := &s.Messages
	for _, line := range [][2]string{
		{"queues", fmt.Sprintf("%d, of which dead-letter queues: %d", s.Queues, s.DeadLetterQueues)},
		{"messages", fmt.Sprintf("visible: %d, in flight: %d, delayed: %d", m.Visible, m.InFlight, m.Delayed)},
		{"oldest message", s.oldest()},
		{"dead letters", fmt.Sprint(m.DeadLetters)},
		{"alarms", s.alarms()},
	} {
		if _, err := fmt.Fprintf(w, "%-15s %s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for _, p := range s.Problems {
		fmt.Fprintf(w, "%s\n  %s\n", p.Problem, p.Advice)
	}
	_, err := fmt.Fprintln(w, s.summary())
	return err
}

// printNodes prints a row for each server. A single server has no name.
func (s *serverStatus) printNodes(w io.Writer) error {
	var rows [][]string
	for i := range s.Nodes {
		n := &s.Nodes[i]
		rows = append(rows, []string{n.Name, n.Version, s.ago(n.StartedTimestamp), disk(n), s.backup(n)})
	}
	if err := printTable(w, []string{"NODE", "VERSION", "UP FOR", "DISK", "LAST BACKUP"}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (s *serverStatus) summary() string {
	if len(s.Problems) == 0 {
		return "All is well."
	}
	return fmt.Sprintf("NOT WELL; problems: %d.", len(s.Problems))
}

func (s *serverStatus) oldest() string {
	o := s.Messages.OldestMessage
	if o == nil {
		return "-"
	}
	return fmt.Sprintf("sent %s ago, in %s", s.ago(o.SentTimestamp), o.QueueArn)
}

func (s *serverStatus) alarms() string {
	text := fmt.Sprintf("%d, of which in ALARM: %d", s.Alarms, s.InAlarm)
	if len(s.FirstAlarms) > 0 {
		text += " (" + strings.Join(s.FirstAlarms, ", ")
		if more := s.InAlarm - int64(len(s.FirstAlarms)); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += ")"
	}
	return text
}

// ago formats how long ago a moment was, in its two largest units.
func (s *serverStatus) ago(timestamp int64) string {
	d := max(0, s.now.Sub(time.UnixMilli(timestamp)))
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return d.Truncate(time.Second).String()
}

func disk(n *admin.NodeStatus) string {
	switch {
	case n.DiskFreeBytes == nil || n.DiskSizeBytes == nil:
		return ""
	case n.DiskLow:
		return "NEARLY FULL: " + doctor.Size(
			uint64(*n.DiskFreeBytes),
		) + " free of " + doctor.Size(uint64(*n.DiskSizeBytes))
	}
	return doctor.Size(uint64(*n.DiskFreeBytes)) + " free of " + doctor.Size(uint64(*n.DiskSizeBytes))
}

// backup describes the age of the last backup, of either kind.
func (s *serverStatus) backup(n *admin.NodeStatus) string {
	last := n.LastBackup
	if c := n.ContinuousBackup; c != nil && c.LastMoment != nil && (last == nil || *c.LastMoment > *last) {
		last = c.LastMoment
	}
	switch {
	case n.BackupRunning:
		return "under way"
	case last == nil && n.ContinuousBackup != nil && n.ContinuousBackup.Standby:
		return "-" // another node makes them
	case last == nil:
		return "none since it was started"
	}
	return s.ago(*last) + " ago"
}

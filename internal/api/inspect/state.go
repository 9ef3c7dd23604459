package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

type queueInput struct {
	QueueUrl string `max:"2048"`
}

type describeQueueStateOutput struct {
	QueueArn               string
	Receivable             bool     // a receive would return a message now
	Reasons                []reason `json:",always"` // why not, or why not all
	Visible                int64
	InFlight               int64
	Delayed                int64
	Arriving               int64  // on their way from other shards; they count as visible in SQS
	OldestMessageTimestamp *int64 // milliseconds, as all
	NextVisibleTimestamp   *int64 // when the next visibility timeout ends
	NextDelayedTimestamp   *int64 // when the next delay ends
	LastSendTimestamp      *int64 // since the server, or the owner of the shard, was started
	LastReceiveTimestamp   *int64
	WaitingReceives        int64 // long polls that wait for a message
	ReadyGroups            int64
	BlockedGroups          int64
	PausedGroups           []string      `json:",omitempty"` // of a FIFO queue, sorted
	LargestBlockedGroup    *messageGroup // of those with the oldest messages
	DeadLetterQueueArn     string        `json:",omitempty"`
	DeadLetters            *int64        // in that queue, if the caller may see it
	DiskBytes              int64         // about, without what came lately
	Undo                   *undoState    // the last purge, if it can be undone
	Shards                 []shardState  `json:",always"`
}

// reason is a reason why messages cannot be received, for programs and for people.
type reason struct{ Code, Text string }

type shardState struct {
	Shard           string
	Node            string `json:",omitempty"`
	Visible         int64
	InFlight        int64
	Delayed         int64
	WaitingReceives int64
	DiskBytes       int64
}

// blockedSample is how many groups are examined to find the largest blocked one.
const blockedSample = 100

// describeQueueState describes the state of a queue, and why receives return nothing.
func (s *inspector) describeQueueState(
	ctx context.Context, c *protocol.Call, in *queueInput,
) (*describeQueueStateOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "DescribeQueueState")
	if err != nil {
		return nil, err
	}
	states, err := s.shard.States(ctx, q.ID)
	if err != nil {
		return nil, failure(err)
	}
	counts, err := s.shard.Counts(ctx, q.ID)
	if err != nil {
		return nil, failure(err)
	}
	kept, err := s.shard.Kept(ctx, q.ID)
	if err != nil {
		return nil, failure(err)
	}
	sum := addUp(states)
	out := &describeQueueStateOutput{
		QueueArn: q.Name.ARN(), Receivable: sum.Receivable, Visible: int64(sum.Visible), InFlight: int64(sum.InFlight),
		Delayed:                int64(sum.Delayed),
		Arriving:               max(0, int64(counts.Visible)-int64(sum.Visible)),
		OldestMessageTimestamp: instant(sum.Oldest), NextVisibleTimestamp: instant(sum.NextVisible),
		NextDelayedTimestamp: instant(sum.NextDelayed),
		LastSendTimestamp:    instant(sum.LastSend), LastReceiveTimestamp: instant(sum.LastReceive),
		WaitingReceives: int64(sum.Waiters), ReadyGroups: int64(sum.ReadyGroups),
		BlockedGroups: int64(sum.BlockedGroups), PausedGroups: q.PausedGroups, DiskBytes: int64(sum.Disk),
		Undo: showKept(kept),
	}
	for _, st := range states {
		out.Shards = append(out.Shards, shardState{
			Shard: strconv.Itoa(cmp.Or(st.Shard, 1)), Node: st.Node, Visible: int64(st.Visible),
			InFlight: int64(st.InFlight), Delayed: int64(st.Delayed),
			WaitingReceives: int64(st.Waiters), DiskBytes: int64(st.Disk),
		})
	}
	if sum.BlockedGroups > 0 {
		if out.LargestBlockedGroup, err = s.largestBlocked(ctx, q); err != nil {
			return nil, failure(err)
		}
	}
	if err := s.addDeadLetters(ctx, c, q, out); err != nil {
		return nil, failure(err)
	}
	out.Reasons = reasons(&sum, uint64(out.Arriving), q.PausedGroups, s.authorizer.Now())
	return out, nil
}

// addUp makes one state of those of several shards.
func addUp(states []shard.State) (sum shard.State) {
	for i := range states {
		join(&sum, &states[i], i == 0)
	}
	return sum
}

// join adds the state of a shard to the sum of other shards, which may be empty.
func join(sum, st *shard.State, isFirst bool) {
	if isFirst {
		sum.OverLimit, sum.Limited = true, ^queue.Limited(0)
	}
	first := func(a, b queue.Instant) queue.Instant {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	sum.Visible += st.Visible
	sum.InFlight += st.InFlight
	sum.Delayed += st.Delayed
	sum.Receivable = sum.Receivable || st.Receivable
	sum.OverLimit = sum.OverLimit && st.OverLimit
	sum.Limited &= st.Limited // as long as one shard gives out messages
	sum.Oldest = first(sum.Oldest, st.Oldest)
	sum.NextVisible = first(sum.NextVisible, st.NextVisible)
	sum.NextDelayed = first(sum.NextDelayed, st.NextDelayed)
	sum.LastSend = max(sum.LastSend, st.LastSend)
	sum.LastReceive = max(sum.LastReceive, st.LastReceive)
	sum.ReadyGroups += st.ReadyGroups
	sum.BlockedGroups += st.BlockedGroups
	// A long poll waits at all shards.
	sum.Waiters = max(sum.Waiters, st.Waiters)
	sum.Disk += st.Disk
}

// largestBlocked returns the largest of the oldest groups whose first message is in flight.
func (s *inspector) largestBlocked(ctx context.Context, q *catalog.Queue) (*messageGroup, error) {
	found, err := s.shard.Groups(ctx, q.ID, queue.Groups{Max: blockedSample})
	if err != nil {
		return nil, err
	}
	var largest *queue.Group
	for i := range found.Groups {
		if g := &found.Groups[i]; g.State == queue.StateInFlight && (largest == nil || g.Depth > largest.Depth) {
			largest = g
		}
	}
	if largest == nil {
		return nil, nil
	}
	g := showGroup(*largest)
	return &g, nil
}

// addDeadLetters adds the number of messages in the queue's dead-letter queue, if the caller may see it.
func (s *inspector) addDeadLetters(
	ctx context.Context, c *protocol.Call, q *catalog.Queue, out *describeQueueStateOutput,
) error {
	if q.Attributes.Redrive == nil {
		return nil
	}
	out.DeadLetterQueueArn = q.Attributes.Redrive.Target
	dead := s.deadLetterQueue(q)
	if dead == nil {
		return nil
	}
	if refused := s.allow(c, dead.Name, dead, "DescribeQueueState"); refused != nil {
		return nil //nolint:nilerr // the rest of the answer is for the caller
	}
	has, err := s.shard.Counts(ctx, dead.ID)
	if err != nil {
		return err
	}
	letters := int64(has.Visible + has.InFlight + has.Delayed)
	out.DeadLetters = &letters
	return nil
}

// quietTime is how long a message waits, and nothing is received, before that is reported.
const quietTime = 10 * time.Minute

// reasons explains why messages cannot be received, or that they could be received and are not.
func reasons(sum *shard.State, arriving uint64, paused []string, now time.Time) []reason {
	list := []reason{}
	add := func(code, format string, args ...any) {
		list = append(list, reason{code, fmt.Sprintf(format, args...)})
	}
	if sum.Visible+sum.InFlight+sum.Delayed+arriving == 0 {
		add("Empty", "The queue has no messages.")
	}
	if sum.OverLimit {
		add("TooManyInFlight", "As many messages are in flight as may be, %d: consumers must delete some first.", sum.InFlight)
	}
	for _, l := range limitReasons {
		if sum.Limited&l.by != 0 {
			list = append(list, l.reason)
		}
	}
	if sum.InFlight > 0 && sum.Visible == 0 {
		add(
			"AllInFlight",
			"%s in flight, and none is visible; the next one becomes visible at %s unless it is deleted.",
			are(sum.InFlight),
			moment(sum.NextVisible),
		)
	}
	if sum.BlockedGroups > 0 && sum.Visible > 0 {
		text := "%d message groups wait: no message of a group is received while an earlier one is in flight."
		if sum.BlockedGroups == 1 {
			text = "%d message group waits: no message of a group is received while an earlier one is in flight."
		}
		if sum.ReadyGroups == 0 && len(paused) == 0 {
			text += " There is no other group with messages."
		}
		add("GroupsBlocked", text, sum.BlockedGroups)
	}
	switch n := len(paused); {
	case n == 1:
		add("GroupsPaused", "The message group %s is paused: nothing of it is received.", paused[0])
	case n > 1:
		add("GroupsPaused", "%d message groups are paused: nothing of them is received.", n)
	}
	if sum.Delayed > 0 {
		add("Delayed", "%s delayed; the next delay ends at %s.", are(sum.Delayed), moment(sum.NextDelayed))
	}
	if arriving > 0 {
		add("Arriving", "%s on the way here from another shard.", are(arriving))
	}
	if quiet := queue.At(now.Add(-quietTime)); sum.Receivable && sum.Waiters == 0 && sum.LastReceive < quiet &&
		sum.Oldest != 0 &&
		sum.Oldest < quiet {
		add(
			"NotReceived",
			"Messages can be received, the oldest was sent at %s, and nothing has been received for 10 minutes, or since the server was started.",
			moment(sum.Oldest),
		)
	}
	return list
}

// limitReasons are those that tags of the queue give.
var limitReasons = []struct {
	by queue.Limited
	reason
}{
	{
		queue.LimitedByPause,
		reason{"Paused", "The queue is paused by its tag " + catalog.TagDelivery + ": receives are given nothing."},
	},
	{
		queue.LimitedByInFlight,
		reason{
			"InFlightLimit", "As many messages are in flight as the queue's tag " + catalog.TagInFlight + " allows.",
		},
	},
	{
		queue.LimitedByRate,
		reason{
			"RateLimit", "The queue's tag " + catalog.TagReceiveRate + " lets the next message through in a moment.",
		},
	},
}

func are(n uint64) string {
	if n == 1 {
		return "1 message is"
	}
	return fmt.Sprintf("%d messages are", n)
}

func moment(i queue.Instant) string { return i.Time().Format(time.RFC3339) }

type listMessageGroupsInput struct {
	QueueUrl string `max:"2048"`
	Cursor   string `max:"32768"` // of the answer before; empty: from the beginning
	Max      *int32
}

type listMessageGroupsOutput struct {
	Groups []messageGroup `json:",always"`
	Cursor string         `json:",omitempty"` // where to continue; empty: there are no more
}

type messageGroup struct {
	MessageGroupId string
	Paused         bool   `json:",omitempty"` // receives return none of its messages
	State          string // of the first message; while it is in flight, no other one of the group is received
	Depth          int64
	DepthIsMore    bool  `json:",omitempty"` // there are more messages than Depth
	InFlight       int64 // of these
	MessageId      string
	SentTimestamp  int64 // of the first message, in milliseconds
	ReceiveCount   int64
	InvisibleUntil *int64
}

const (
	defaultGroups = 50
	maxGroups     = 500
)

// listMessageGroups lists the groups of a FIFO queue, those first that have the oldest messages.
func (s *inspector) listMessageGroups(
	ctx context.Context, c *protocol.Call, in *listMessageGroupsInput,
) (*listMessageGroupsOutput, error) {
	g := queue.Groups{Max: defaultGroups}
	q, err := s.queue(c, in.QueueUrl, "ListMessageGroups")
	if err != nil {
		return nil, err
	}
	if in.Max != nil {
		g.Max = int(*in.Max)
	}
	if g.Max < 1 || g.Max > maxGroups {
		return nil, protocol.ValidationError("Max is %d; it must be between 1 and %d.", g.Max, maxGroups)
	}
	after, ok := cursor(in.Cursor, queue.DecodeGroupsCursor)
	if !ok {
		return nil, errCursor()
	}
	g.After = after
	if !q.Attributes.FIFO {
		return nil, errNotFIFO(q)
	}
	found, err := s.shard.Groups(ctx, q.ID, g)
	if err != nil {
		return nil, failure(err)
	}
	out := &listMessageGroupsOutput{Groups: service.Convert(found.Groups, showGroup)}
	for i := range out.Groups {
		_, out.Groups[i].Paused = slices.BinarySearch(q.PausedGroups, out.Groups[i].MessageGroupId)
	}
	if found.More {
		out.Cursor = cursorText(found.Next.Encode())
	}
	return out, nil
}

func showGroup(g queue.Group) messageGroup {
	return messageGroup{
		MessageGroupId: g.Name, State: stateName(g.State), Depth: int64(g.Depth), DepthIsMore: g.More,
		InFlight: int64(g.InFlight), MessageId: g.ID.String(),
		SentTimestamp: int64(g.Sent), ReceiveCount: int64(g.Receives), InvisibleUntil: instant(g.Until),
	}
}

package command

import (
	"context"
	"io"
	"strconv"
	"strings"
)

// queueStates is the answer of queue ls --state.
type queueStates struct{ Queues []listedQueue }

type listedQueue struct {
	QueueName   string
	QueueUrl    string
	QueueArn    string
	Fifo        bool
	State       *listedState `json:",omitempty"`
	Unavailable bool         `json:",omitempty"`
}

type listedState struct {
	CreatedTimestamp          int64
	Encryption                string
	ContentBasedDeduplication bool
	Visible                   int64
	InFlight                  int64
	Delayed                   int64
	Arriving                  int64
	OldestMessageTimestamp    int64 `json:",omitempty"`
	LastSendTimestamp         int64 `json:",omitempty"`
	LastReceiveTimestamp      int64 `json:",omitempty"`
	WaitingReceives           int64
	Receivable                bool
	Paused                    bool
	Condition                 string `json:",omitempty"`
	Reasons                   []struct{ Code, Text string }
	DeadLetterQueueArn        string `json:",omitempty"`
	DeadLetters               *int64 `json:",omitempty"`
	DeadLetterSources         int64
	LastMinute                *queueActivity `json:",omitempty"`
	Totals                    queueActivity
}

type queueActivity struct {
	Sent, Received, EmptyReceives, Deleted, Expired, DeadLettered, Moved int64
}

// listQueueStates lists the queues whose names begin with a prefix, with their states.
func listQueueStates(ctx context.Context, c *client, prefix string) (*queueStates, error) {
	all := &queueStates{Queues: []listedQueue{}}
	for cursor := ""; ; {
		var page struct {
			Queues []listedQueue
			Cursor string
		}
		if err := c.sluice(
			ctx, "ListQueueStates", map[string]any{"Prefix": prefix, "Cursor": cursor, "Max": 200}, &page,
		); err != nil {
			return nil, err
		}
		all.Queues = append(all.Queues, page.Queues...)
		if cursor = page.Cursor; cursor == "" {
			return all, nil
		}
	}
}

func (l *queueStates) text(w io.Writer) error {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	var rows [][]string
	for _, q := range l.Queues {
		s := q.State
		switch {
		case q.Unavailable:
			rows = append(rows, []string{q.QueueName, "", "", "", "", "", "", "", "Unavailable"})
			continue
		case s == nil:
			rows = append(rows, []string{q.QueueName, "", "", "", "", "", "", "", ""})
			continue
		}
		row := []string{q.QueueName, number(s.Visible), number(s.InFlight), number(s.Delayed), "", "", "", "", ""}
		if s.OldestMessageTimestamp != 0 {
			row[4] = millis(s.OldestMessageTimestamp)
		}
		if m := s.LastMinute; m != nil {
			row[5], row[6] = number(m.Sent), number(m.Received)
		}
		if s.DeadLetters != nil {
			row[7] = number(*s.DeadLetters)
		}
		var codes []string
		for _, r := range s.Reasons {
			codes = append(codes, r.Code)
		}
		row[8] = strings.Join(codes, " ")
		rows = append(rows, row)
	}
	return printTable(w, []string{
		"QUEUE", "AVAILABLE", "IN FLIGHT", "DELAYED", "OLDEST SENT", "SENT/MIN", "RECEIVED/MIN", "DEAD LETTERS", "WHY",
	}, rows)
}

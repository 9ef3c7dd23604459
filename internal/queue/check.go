package queue

import (
	"errors"
	"fmt"
)

// Reader is the part of Txn that changes nothing.
type Reader interface {
	Get(key []byte) ([]byte, error)
	Scan(lo, hi []byte, f func(key, value []byte) bool) error
}

// problemsKept limits how many problems of a queue are described.
const problemsKept = 100

// Recount is the result of Check for one queue.
type Recount struct {
	Messages uint64   // in all states
	Bytes    uint64   // of their records
	Problems []string // descriptions of the first problems
	More     uint64   // number of problems without a description
}

// Check reads everything that is stored of a queue, and checks that it is consistent: each message has exactly one way
// to its consumer, each row of an index has its message, and the counters equal a recount. Each difference is a
// problem. An error means that the store could not be read.
//
// It reads the tables in order, and keeps in memory what an engine would keep: the messages that were received and not
// deleted. Looking up each row in another table would take a random read of the disk. So Check compares sums of the
// tables (see sum), and compares row by row only if the sums differ.
//
// If another shard serves the queue, Check recounts the messages in the outbox.
func Check(r Reader, cfg Config) (Recount, error) {
	c := &checker{
		r: r, cfg: cfg, received: make(map[Position]stub), held: make(map[string]Position),
		paused: make(map[string]bool),
	}
	steps := []func() error{
		c.readMeta, c.checkTables, c.checkOwnName, c.readPaused, c.checkReceived, c.checkMessages, c.checkDelays,
		c.checkMembers,
		c.checkAges,
		c.compare, c.checkGroups, c.checkRota, c.checkTasks, c.checkAccepted,
	}
	if cfg.Elsewhere {
		steps = []func() error{c.checkElsewhere}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return c.Recount, fmt.Errorf("check queue %s: %w", cfg.ARN, err)
		}
		if c.empty {
			break
		}
	}
	if !cfg.Elsewhere {
		if err := c.checkOutbox(); err != nil {
			return c.Recount, fmt.Errorf("check queue %s: %w", cfg.ARN, err)
		}
	}
	return c.Recount, nil
}

type checker struct {
	r     Reader
	cfg   Config
	meta  meta
	empty bool // nothing was ever written to the queue
	Recount

	received map[Position]stub
	held     map[string]Position // FIFO: groups with received messages, and their last received message
	paused   map[string]bool     // FIFO: groups
	groups   uint64              // that have a record
	inRota   uint64              // of these, in the rota

	indexed, ages    sum // of the indexed messages, and of their ages; not in FIFO queues
	waiting, waiters sum // of indexed messages that were not received, and of delays and members
}

func (c *checker) want(ok bool, format string, args ...any) {
	switch {
	case ok:
	case len(c.Problems) < problemsKept:
		c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
	default:
		c.More++
	}
}

// scan calls f with each row of a table. Keys must have the given length, unless it is 0. A record that cannot be
// decoded is a problem; any other error of f ends the scan.
func (c *checker) scan(table byte, length int, f func(k, v []byte) error) error {
	var bad error
	lo, hi := tableRange(c.cfg.ID, table)
	err := c.r.Scan(lo, hi, func(k, v []byte) bool {
		if length != 0 && len(k) != length {
			c.want(false, "stray key %q", k)
			return true
		}
		err := f(k, v)
		if errors.Is(err, errRecordMalformed) || errors.Is(err, errRecordNewVersion) {
			c.want(false, "key %q: %v", k, err)
			err = nil
		}
		bad = err
		return bad == nil
	})
	return firstError(err, bad)
}

// Lengths of keys: the queue, the table, and a count of numbers.
const (
	keyOf0 = 9
	keyOf1 = keyOf0 + 8
	keyOf2 = keyOf1 + 8
)

func (c *checker) readMeta() error {
	return c.readOwn(metaKey(c.cfg.ID), c.meta.decode, firstKey)
}

// readOwn reads the queue's own record. An engine reaches nothing else of the queue without it.
func (c *checker) readOwn(key key, decode func([]byte) error, other func(Reader, ID) ([]byte, error)) error {
	b, err := c.r.Get(key)
	if err != nil {
		return err
	}
	if b == nil {
		c.empty = true
		k, err := other(c.r, c.cfg.ID)
		c.want(k == nil, "there are keys but no record of the queue: %q", k)
		return err
	}
	if err := decode(b); err != nil {
		c.empty = true
		c.want(false, "%v", err)
	}
	return nil
}

func (c *checker) checkTables() error {
	err := c.checkBetween(
		tableMeta, tableOutbox, secondDelay, secondAge, secondReceived,
		tableAccepted, tableChoice, tableDelay, tableAge, tableOutboxMessage, tableGroup,
		tableMessage, tableOwnName, tablePaused, tableRota, tableReceived,
		tableTask, tableMember,
	)
	if err != nil {
		return err
	}
	return firstError(c.scan(tableMeta, keyOf0, func(_, _ []byte) error { return nil }), c.checkKept())
}

// checkKept reads the rows of the other edition, which are kept. The number of received messages must equal the
// record's.
func (c *checker) checkKept() error {
	other, kept := !c.meta.rows, &c.meta.kept
	held := uint64(0)
	err := c.scan(other.table(tableReceived), keyOf1, func(k, v []byte) error {
		p := Position(tail(k, 0))
		c.want(kept.since != 0 && kept.within(p), "%v was received, and its row is in the table of what is kept", p)
		if kept.hidesReceived(p) {
			held++
		}
		_, _, err := decodeReceived(p, v)
		return err
	})
	c.want(held == kept.held, "%d received messages are kept, the queue's record says %d", held, kept.held)
	for _, table := range []byte{tableDelay, tableAge} {
		err = firstError(err, c.scan(other.table(table), keyOf2, func(k, _ []byte) error {
			p := Position(tail(k, 0))
			c.want(kept.since != 0 && kept.within(p), "%v is in the table of %s of what is kept", p, tableNames[table])
			return nil
		}))
	}
	return err
}

// checkBetween looks for keys between the tables, which are in order.
func (c *checker) checkBetween(tables ...byte) error {
	from, end := queueRange(c.cfg.ID)
	for i := range len(tables) + 1 {
		to, next := end, end
		if i < len(tables) {
			to, next = tableRange(c.cfg.ID, tables[i])
		}
		err := c.r.Scan(from, to, func(k, _ []byte) bool {
			c.want(false, "stray key %q", k)
			return false
		})
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

func (c *checker) checkTasks() error {
	tasks, running := 0, 0
	choices := make(map[Instant]bool) // that must exist
	err := c.scan(tableTask, keyOf1, func(k, v []byte) error {
		t, err := decodeMoveTask(v)
		if err != nil {
			return err
		}
		tasks++
		if t.Status == MoveRunning {
			running++
			if t.Selection != nil {
				choices[t.Started] = true
			}
		}
		c.want(
			t.Started == Instant(tail(k, 0)), "task %s is under another time than %v, when it was started", t.ID,
			t.Started,
		)
		c.want(t.Moved <= t.ToMove, "task %s has moved %d of %d messages", t.ID, t.Moved, t.ToMove)
		return nil
	})
	c.want(tasks <= movesKept, "%d message move tasks are kept", tasks)
	c.want(running <= 1, "%d message move tasks are running", running)
	return firstError(err, c.scan(tableChoice, keyOf1, func(k, v []byte) error {
		c.want(choices[Instant(tail(k, 0))], "there is a choice of no running task: %q", k)
		delete(choices, Instant(tail(k, 0)))
		return new(Selection).decodeChoice(v)
	}), c.missingChoices(choices))
}

func (c *checker) missingChoices(left map[Instant]bool) error {
	c.want(len(left) == 0, "the choices of %d running tasks are missing", len(left))
	return nil
}

package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// line is one line of a file: one of its members is set.
type line struct {
	Rules   *rules     `json:"rules,omitempty"`
	Call    *Call      `json:"call,omitempty"`
	Trouble *Trouble   `json:"trouble,omitempty"`
	Note    *Violation `json:"note,omitempty"`
}

// rules are the settings by which a history is judged.
type rules struct {
	Queues []Queue       `json:"queues"`
	Topics []Topic       `json:"topics,omitempty"`
	Slack  time.Duration `json:"slack"`
	Grace  time.Duration `json:"grace"`
}

// Writer appends to the file of a history. All times are nanoseconds.
type Writer struct {
	w      *bufio.Writer
	encode *json.Encoder
	err    error // the first
}

// NewWriter returns a writer of a history that is judged by the rules of h.
func NewWriter(w io.Writer, h *History) *Writer {
	buffered := bufio.NewWriterSize(w, 1<<16)
	out := &Writer{w: buffered, encode: json.NewEncoder(buffered)}
	out.write(line{Rules: &rules{h.Queues, h.Topics, h.Slack, h.Grace}})
	return out
}

func (w *Writer) write(l line) {
	if err := w.encode.Encode(l); w.err == nil {
		w.err = err
	}
}

// Call appends a call that is over.
func (w *Writer) Call(c *Call) { w.write(line{Call: c}) }

// Trouble appends a trouble: when it begins, and again when it has ended.
func (w *Writer) Trouble(t *Trouble) { w.write(line{Trouble: t}) }

// Note appends a violation.
func (w *Writer) Note(v Violation) { w.write(line{Note: &v}) }

// Flush gives everything to the writer below, and returns the first error there was.
func (w *Writer) Flush() error { return errors.Join(w.err, w.w.Flush()) }

// Read reads the file of a history.
func Read(r io.Reader) (*History, error) {
	h := new(History)
	began := make(map[time.Duration]*Trouble) // by their beginning, of which no two are the same
	decode := json.NewDecoder(bufio.NewReaderSize(r, 1<<16))
	for n := 1; ; n++ {
		var l line
		err := decode.Decode(&l)
		if errors.Is(err, io.EOF) {
			return h, nil
		}
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", n, err)
		}
		switch {
		case l.Rules != nil:
			h.Queues, h.Topics, h.Slack, h.Grace = l.Rules.Queues, l.Rules.Topics, l.Rules.Slack, l.Rules.Grace
		case l.Call != nil:
			for _, e := range l.Call.Entries {
				e.Call = l.Call
			}
			h.Calls = append(h.Calls, l.Call)
		case l.Trouble != nil:
			if t := began[l.Trouble.Began]; t != nil {
				*t = *l.Trouble
				break
			}
			began[l.Trouble.Began] = l.Trouble
			h.Troubles = append(h.Troubles, l.Trouble)
		case l.Note != nil:
			h.Notes = append(h.Notes, *l.Note)
		}
	}
}

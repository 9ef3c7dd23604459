package protocol

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// limits bound the value that a client may send in one field of an input. Codecs check them while they decode, so that
// neither a handler nor a policy ever sees a value that is longer. In an output they are zero and bound nothing.
type limits struct {
	entries int // of a list or map
	key     int // of each key of a map, in characters
	text    int // of a string, or of each one in a list or map, in characters; of a blob in bytes
}

// Excess is what of a request is longer than its field allows. A Service turns it into its own error.
type Excess struct {
	Member string // path of the field, as "Entries.2.MessageAttributes.key"; lists count from 1
	Value  string // the sent value, cut to maxExcessValue characters; empty for lists and maps
	Max    int    // the most that is allowed
	Unit   Unit   // in which Max counts
}

// Unit is the unit of a limit.
type Unit string

// The units of limits.
const (
	Characters Unit = "characters"
	Bytes      Unit = "bytes"
	Entries    Unit = "entries"
)

const maxExcessValue = 1024

// Constraint describes in a sentence which values are allowed.
func (e *Excess) Constraint() string {
	if e.Unit == Entries {
		return fmt.Sprintf("Must have at most %d entries.", e.Max)
	}
	return fmt.Sprintf("Must be at most %d %s long.", e.Max, e.Unit)
}

// exceeds reports whether s has more than most characters.
func exceeds(s string, most int) bool {
	return len(s) > most && (len(s) > most*utf8.UTFMax || utf8.RuneCountInString(s) > most)
}

// textExcess returns nil if s has no more characters than l allows.
func (l *limits) textExcess(s string) error {
	if l.text == 0 || !exceeds(s, l.text) {
		return nil
	}
	return newExcess("", s, l.text, Characters)
}

// keyExcess returns nil if s, a map's key, has no more characters than l allows.
func (l *limits) keyExcess(s string) error {
	if l.key == 0 || !exceeds(s, l.key) {
		return nil
	}
	return newExcess("key", s, l.key, Characters)
}

// blobExcess returns nil if b has no more bytes than l allows.
func (l *limits) blobExcess(b []byte) error {
	if l.text == 0 || len(b) <= l.text {
		return nil
	}
	return newExcess("", "", l.text, Bytes)
}

// entriesExcess returns nil if l allows n entries.
func (l *limits) entriesExcess(n int) error {
	if l.entries == 0 || n <= l.entries {
		return nil
	}
	return newExcess("", "", l.entries, Entries)
}

func newExcess(member, value string, most int, unit Unit) *excessError {
	return &excessError{Excess{Member: member, Value: cut(value, maxExcessValue), Max: most, Unit: unit}}
}

// excessError carries an Excess to Decode, which turns it into the service's error. On the way up, each level puts the
// name of its member before the path.
type excessError struct{ Excess }

func (e *excessError) Error() string { return e.Member + ": " + e.Constraint() }

// under returns err as it is seen from the structure, list or map that has the member called name.
func under(name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*excessError](err); ok {
		if e.Member != "" {
			name += "." + e.Member
		}
		e.Member = name
	}
	return err
}

// underEntry is under for entry i of a list.
func underEntry(i int, err error) error {
	if err == nil {
		return nil
	}
	return under(strconv.Itoa(i+1), err)
}

// cut returns the first characters of s, and dots if there are more.
func cut(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// TooLong is the error of a service that does not have its own: that of the framework under most services.
func TooLong(e *Excess) *Error {
	var v Violations
	v.Add(e.Value, memberPath(strings.Split(e.Member, ".")), boundWords("length", "less", e.Max))
	return v.refusal()
}

// parseLimits reads the tag max of sf, which every field of an input needs that a client could make long.
func parseLimits(sf reflect.StructField, p *plan, at string) limits {
	var l limits
	var want []*int
	switch elem := p.elem; {
	case p.shape == stringShape, p.shape == blobShape:
		want = []*int{&l.text}
	case p.collection():
		want = []*int{&l.entries}
		if p.shape == mapShape {
			want = append(want, &l.key)
		}
		if elem.shape == stringShape || elem.shape == blobShape {
			want = append(want, &l.text)
		}
	}
	tag := sf.Tag.Get("max")
	var parts []string
	if tag != "" {
		parts = strings.Split(tag, ",")
	}
	if len(parts) != len(want) {
		panic(
			fmt.Sprintf(
				"protocol: %s: the tag max:%q has %d limits; %s needs %d: see the package comment",
				at,
				tag,
				len(parts),
				p.typ,
				len(want),
			),
		)
	}
	for i, part := range parts {
		n, ok := parseLimit(part)
		if !ok {
			panic(fmt.Sprintf("protocol: %s: the limit %q is not a positive number", at, part))
		}
		*want[i] = n
	}
	return l
}

// parseLimit reads a number that may end in K or M, for 1024 and 1048576.
func parseLimit(s string) (int, bool) {
	digits, unit := s, 1
	switch {
	case strings.HasSuffix(s, "K"):
		digits, unit = s[:len(s)-1], 1<<10
	case strings.HasSuffix(s, "M"):
		digits, unit = s[:len(s)-1], 1<<20
	}
	n, err := strconv.Atoi(digits)
	return n * unit, err == nil && n > 0
}

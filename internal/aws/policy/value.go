package policy

import (
	"encoding/base64"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/tool/cidr"
)

// Value is the value of a condition key in a request: one value, or a list if
// the key can have several. Any Value can be compared by any operator that can
// read it. The zero Value is the empty string.
type Value struct {
	kind   valueKind
	text   string
	list   []string
	time   time.Time
	number float64
	truth  bool
	addr   netip.Addr
}

type valueKind uint8

const (
	textValue valueKind = iota
	listValue
	timeValue  // aws:CurrentTime: read by Date operators
	epochValue // aws:EpochTime: read by Date and Numeric operators
	numberValue
	truthValue
	addrValue
)

// Text is a value as a client has sent it, or as people write it: numbers,
// dates, addresses and so on are read from it by the operators that need them.
func Text(s string) Value { return Value{text: s} }

// List is the value of a key that can have several, as aws:TagKeys. Only
// ForAllValues and ForAnyValue look into it.
func List(s []string) Value { return Value{kind: listValue, list: s} }

// String returns v as String operators and variables see it.
func (v Value) String() string {
	switch v.kind {
	case listValue:
		return strings.Join(v.list, ", ")
	case timeValue:
		return v.time.UTC().Format("2006-01-02T15:04:05Z")
	case epochValue:
		return strconv.FormatInt(v.time.Unix(), 10)
	case numberValue:
		return strconv.FormatFloat(v.number, 'f', -1, 64)
	case truthValue:
		return strconv.FormatBool(v.truth)
	case addrValue:
		return v.addr.String()
	}
	return v.text
}

func (v *Value) asTime() (time.Time, bool) {
	switch v.kind {
	case timeValue, epochValue:
		return v.time, true
	case textValue:
		return readTime(v.text)
	}
	return time.Time{}, false
}

func (v *Value) asNumber() (float64, bool) {
	switch v.kind {
	case numberValue:
		return v.number, true
	case epochValue:
		return float64(v.time.Unix()), true
	case textValue:
		return readNumber(v.text)
	}
	return 0, false
}

func (v *Value) asTruth() (truth, ok bool) {
	if v.kind == truthValue {
		return v.truth, true
	}
	return readTruth(v.text)
}

func (v *Value) asAddr() (netip.Addr, bool) {
	if v.kind == addrValue {
		return v.addr, true
	}
	a, err := netip.ParseAddr(v.text)
	return a.Unmap().WithZone(""), err == nil
}

// readTime reads a date in the profile of ISO 8601 that the W3C has made (a
// year, a month, a day, or a time with its zone), or seconds since 1970. Four
// digits are a year.
func readTime(s string) (time.Time, bool) {
	layout := ""
	switch {
	case len(s) == 4:
		layout = "2006"
	case len(s) == 7 && s[4] == '-':
		layout = "2006-01"
	case len(s) == 10 && s[4] == '-':
		layout = "2006-01-02"
	case len(s) > 16 && s[10] == 'T' && s[16] == ':':
		layout = "2006-01-02T15:04:05Z07:00" // also with a fraction of a second
	case len(s) > 16 && s[10] == 'T':
		layout = "2006-01-02T15:04Z07:00"
	default:
		return readEpoch(s)
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return readEpoch(s)
	}
	return t, true
}

func readEpoch(s string) (time.Time, bool) {
	n, ok := readNumber(s)
	if !ok || n < -1e11 || n > 1e12 {
		return time.Time{}, false
	}
	seconds := int64(n)
	return time.Unix(seconds, int64((n-float64(seconds))*1e9)), true
}

// readNumber reads a decimal number.
func readNumber(s string) (float64, bool) {
	if s == "" || numberEnd(strings.TrimPrefix(s, "+")) < len(strings.TrimPrefix(s, "+")) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

func readTruth(s string) (truth, ok bool) {
	truth = strings.EqualFold(s, "true")
	return truth, truth || strings.EqualFold(s, "false")
}

// readPrefix reads a range of addresses in CIDR notation, or one address.
func readPrefix(s string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), a.Zone() == ""
	}
	p, err := cidr.Parse(s)
	return p.Masked(), err == nil
}

func readBinary(s string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(s)
	return string(b), err == nil
}

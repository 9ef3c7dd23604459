package metricsearch

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Query is a search that was read. It is safe for concurrent use.
type Query struct {
	schema []string // the namespace, and the names of all dimensions; nil: any
	term   term     // nil: all
	words  int      // of all terms together
}

// Namespace returns the namespace of all series that the query finds, or "" if it may be any.
func (q *Query) Namespace() string {
	if len(q.schema) == 0 {
		return ""
	}
	return q.schema[0]
}

// Matches reports whether the query finds a series. It ignores the scope.
func (q *Query) Matches(id series.ID) bool {
	if q.schema != nil {
		if id.Namespace != q.schema[0] || len(q.schema) > 1 && len(id.Dimensions) != len(q.schema)-1 {
			return false
		}
		for _, name := range q.schema[1:] {
			if !slices.ContainsFunc(id.Dimensions, func(d series.Dimension) bool { return d.Name == name }) {
				return false
			}
		}
	}
	return q.term == nil || q.term.matches(fieldsOf(id))
}

// stepsOfSample is how many comparisons take about as long as reading a sample does.
const stepsOfSample = 64

// Cost returns the cost of checking whether the query finds a series, in samples that could be read instead. It grows
// with the length of the series' names and values, and with the number of words of the query's terms.
func (q *Query) Cost(id series.ID) int {
	length := len(id.Namespace) + len(id.Metric)
	for _, d := range id.Dimensions {
		length += len(d.Name) + len(d.Value)
	}
	return 1 + (len(q.schema)*len(id.Dimensions)+length*(1+q.words))/stepsOfSample
}

// field is a text of a series, with its designator and its words.
type field struct {
	name, text string
	words      []string
	joined     string
}

func newField(name, text string) field {
	words := wordsOf(text)
	return field{name, text, words, strings.Join(words, "")}
}

// The designators of fields that are no dimensions.
const (
	namespaceField = "Namespace"
	metricField    = "MetricName"
)

// dimensionName is the field of the names of dimensions, which have no designator.
const dimensionName = ""

func fieldsOf(id series.ID) []field {
	fields := []field{newField(namespaceField, id.Namespace), newField(metricField, id.Metric)}
	for _, d := range id.Dimensions {
		fields = append(fields, newField(dimensionName, d.Name), newField(d.Name, d.Value))
	}
	return fields
}

// term is a part of a query.
type term interface {
	matches(fields []field) bool
}

type allOf []term

func (all allOf) matches(fields []field) bool {
	return !slices.ContainsFunc(all, func(t term) bool { return !t.matches(fields) })
}

type anyOf []term

func (some anyOf) matches(fields []field) bool {
	return slices.ContainsFunc(some, func(t term) bool { return t.matches(fields) })
}

type notAny struct{ term }

func (n notAny) matches(fields []field) bool { return !n.term.matches(fields) }

// of matches only fields with its designator.
type of struct {
	name string
	term term
}

func (o of) matches(fields []field) bool {
	var some []field
	for _, f := range fields {
		if f.name == o.name && o.name != dimensionName {
			some = append(some, f)
		}
	}
	return len(some) > 0 && o.term.matches(some)
}

// exactly matches a whole field.
type exactly string

func (e exactly) matches(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.text == string(e) })
}

// part matches a part of a field.
type part struct {
	words  []string
	joined string
}

func newPart(text string) part {
	words := wordsOf(text)
	return part{words, strings.Join(words, "")}
}

func (p part) matches(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool {
		if len(p.words) == 0 {
			return false
		}
		// customcount finds CustomCount as a whole, though it is two words there.
		if f.joined == p.joined {
			return true
		}
		for i := 0; i+len(p.words) <= len(f.words); i++ {
			if slices.Equal(f.words[i:i+len(p.words)], p.words) {
				return true
			}
		}
		return false
	})
}

// wordsOf divides a text into words: CPUUtilization-t2 is cpu, utilization, t, 2.
func wordsOf(text string) (words []string) {
	runes := []rune(text)
	begin := -1
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if begin >= 0 {
				words = append(words, strings.ToLower(string(runes[begin:i])))
			}
			begin = -1
			continue
		}
		if begin >= 0 && startsWord(runes, i) {
			words = append(words, strings.ToLower(string(runes[begin:i])))
			begin = i
		}
		if begin < 0 {
			begin = i
		}
	}
	if begin >= 0 {
		words = append(words, strings.ToLower(string(runes[begin:])))
	}
	return words
}

// startsWord reports whether a word begins at a letter or digit that has another one before it.
func startsWord(runes []rune, i int) bool {
	before, r := runes[i-1], runes[i]
	switch {
	case unicode.IsDigit(before) != unicode.IsDigit(r):
		return true
	case !unicode.IsUpper(r):
		return false
	case !unicode.IsUpper(before):
		return true
	}
	// The last capital of several begins a word if small letters follow.
	return i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

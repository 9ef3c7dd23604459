package protocol

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// modelCheck collects what of an input is against the model.
type modelCheck struct {
	violations Violations
	sentence   string // the first one, which counts if there are no violations
}

// check checks an input, the value of a struct, against r.
func (r *rule) check(in reflect.Value) error {
	var c modelCheck
	c.structure(r, in, "")
	if err := c.violations.Err(); err != nil || c.sentence == "" {
		return err
	}
	return ValidationError("%s", c.sentence)
}

func (c *modelCheck) structure(r *rule, in reflect.Value, at string) {
	for _, member := range r.members {
		path := at + lowerCamel(member.name)
		v := in.FieldByIndex(member.field.index)
		switch {
		case !member.field.absent(v):
			c.value(member.rule, reflect.Indirect(v), path)
		case member.required && (v.Kind() != reflect.String || member.rule == nil):
			c.violations.Required(path, nil)
		case member.required:
			c.value(member.rule, v, path)
		}
	}
}

// value checks the sent value of a member.
func (c *modelCheck) value(r *rule, v reflect.Value, at string) {
	if r == nil {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		c.structure(r, v, at+".")
	case reflect.Slice:
		c.list(r, v, at)
	case reflect.String:
		c.text(r, v.String(), at)
	case reflect.Int, reflect.Int32, reflect.Int64:
		c.bounds(r, int(v.Int()), strconv.FormatInt(v.Int(), 10), at, "value")
	}
}

func (c *modelCheck) text(r *rule, text, at string) {
	switch {
	case r.enum != nil:
		c.violations.Enum(at, &text, r.enum...)
		return
	case r.pattern == nil || r.pattern.MatchString(text):
	case r.sentence == "":
		c.fault(r, text, at, patternWords(r))
	case c.sentence == "":
		c.sentence = fmt.Sprintf(r.sentence, at)
	}
	c.bounds(r, utf8.RuneCountInString(text), text, at, "length")
}

func (c *modelCheck) list(r *rule, list reflect.Value, at string) {
	if list.Type().Elem().Kind() == reflect.Struct {
		c.bounds(r, list.Len(), "["+strings.Repeat(", ", max(list.Len()-1, 0))+"]", at, "length")
		for i := range list.Len() {
			c.value(r.elem, list.Index(i), fmt.Sprintf("%s.%d.member", at, i+1))
		}
		return
	}
	shown := showList(list)
	if r.elem != nil && c.badElement(r.elem, list, at) {
		c.fault(r, shown, at, "Member must satisfy constraint: ["+strings.Join(r.elem.words(), ", ")+"]")
	}
	c.bounds(r, list.Len(), shown, at, "length")
}

// badElement reports whether an element of a list of texts, which is at a path, is against r.
func (c *modelCheck) badElement(r *rule, list reflect.Value, at string) bool {
	for i := range list.Len() {
		var one modelCheck
		one.text(r, list.Index(i).String(), at)
		if one.violations.Err() != nil {
			return true
		}
		c.sentence = cmp.Or(c.sentence, one.sentence)
	}
	return false
}

// showList writes a list of texts as Java does, cut as single values are.
func showList(list reflect.Value) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; i < list.Len() && b.Len() <= maxExcessValue; i++ {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(list.Index(i).String())
	}
	b.WriteByte(']')
	return b.String()
}

// bounds checks a number, a length or how many entries there are.
func (c *modelCheck) bounds(r *rule, n int, shown, at, what string) {
	switch {
	case r.min != nil && n < *r.min:
		c.fault(r, shown, at, boundWords(what, "greater", *r.min))
	case r.max != nil && n > *r.max:
		c.fault(r, shown, at, boundWords(what, "less", *r.max))
	}
}

func (c *modelCheck) fault(r *rule, value, at, constraint string) {
	if r.sensitive {
		c.violations.addHidden(at, constraint)
		return
	}
	c.violations.Add(value, at, constraint)
}

// words returns all that a rule for a text demands.
func (r *rule) words() []string {
	var out []string
	if r.enum != nil {
		return []string{enumWords(r.enum)}
	}
	if r.max != nil {
		out = append(out, boundWords("length", "less", *r.max))
	}
	if r.min != nil {
		out = append(out, boundWords("length", "greater", *r.min))
	}
	if r.pattern != nil {
		out = append(out, patternWords(r))
	}
	return out
}

func patternWords(r *rule) string {
	return "Member must satisfy regular expression pattern: " + r.source
}

func boundWords(what, than string, bound int) string {
	return fmt.Sprintf("Member must have %s %s than or equal to %d", what, than, bound)
}

// lowerCamel returns the name of a member as violations write it.
func lowerCamel(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// excess returns the error for a value that is too long to be decoded, if the model has a rule for the member.
func (r *rule) excess(e *Excess) error {
	path := strings.Split(e.Member, ".")
	found := r.lookup(path)
	if found == nil || found.max == nil {
		return nil
	}
	var c modelCheck
	last := len(path) - 1
	if isIndex(path[last]) { // a text in a list, of which all texts are named together
		c.fault(
			found, "["+e.Value+"]", memberPath(path[:last]),
			"Member must satisfy constraint: ["+strings.Join(found.words(), ", ")+"]",
		)
	} else {
		c.fault(found, e.Value, memberPath(path), boundWords("length", "less", *found.max))
	}
	return c.violations.Err()
}

// memberPath writes the path of an Excess as violations do.
func memberPath(path []string) string {
	out := make([]string, len(path))
	for i, part := range path {
		if isIndex(part) {
			out[i] = part + ".member"
			continue
		}
		out[i] = lowerCamel(part)
	}
	return strings.Join(out, ".")
}

func isIndex(part string) bool { return part != "" && part[0] >= '0' && part[0] <= '9' }

package declared

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/weburl"
)

// Action is what happens to a resource.
type Action string

// The actions.
const (
	Create Action = "create"
	Modify Action = "change"
	Delete Action = "delete"
)

// Change is the change of one setting. An absent value is nil.
type Change struct {
	Setting string
	Was, Is *string
}

// Step is what happens to one resource.
type Step struct {
	Ref
	Action  Action
	Changes []Change

	was *Actual
	at  Position // of the resource in the file; zero if absent
}

// Plan is the steps of an apply, in order.
type Plan struct {
	Name  string // of the file
	Steps []*Step
	Notes []string // differences from the file that stay

	path string // of the file
}

// at returns the place of a resource in the file, for the beginning of an error.
func (p *Plan) at(s *Step) string {
	if s.at == (Position{}) {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d: ", p.path, s.at.Line, s.at.Column)
}

// Found holds the existing resources that a file names and, for a prune, those that the file has made, by key.
type Found map[Ref]*Actual

// ErrRefused reports that a file requests an impossible change.
var ErrRefused = errors.New("nothing is changed")

// Compare returns the steps that bring the existing resources to the state in the file. With prune, these include
// deleting resources that an earlier apply of the file made and that the file no longer has.
func Compare(f *File, found Found, prune bool) (*Plan, error) {
	p := &Plan{Name: f.Name, path: f.Path}
	var later []*Step
	var refusals []error
	wanted := make(map[Ref]bool, len(f.Resources))
	for _, r := range f.Resources {
		wanted[r.key()] = true
		is := found[r.key()]
		if is == nil {
			step, second := create(r)
			p.Steps = append(p.Steps, step)
			later = append(later, second...)
			continue
		}
		changes := r.changes(is)
		for _, c := range changes {
			if s := settingOf(r.Kind, c.Setting); s.fixed {
				refusals = append(
					refusals,
					f.problem(r.place(c.Setting), "%s has %s %s, which cannot be changed to %s: delete it first, or leave it as it is",
						r.Ref, c.Setting, said(c.Was), said(c.Is)),
				)
			}
		}
		switch {
		case len(changes) > 0 && is.pending:
			p.Notes = append(
				p.Notes,
				fmt.Sprintf("%s waits for its confirmation: what is set of it is not seen, and is set by an apply after that", r.Ref),
			)
		case len(changes) > 0:
			now, then := r.split(changes)
			if len(now) > 0 {
				p.Steps = append(p.Steps, &Step{Ref: r.Ref, Action: Modify, Changes: now, was: is, at: r.At})
			}
			if len(then) > 0 {
				later = append(later, &Step{Ref: r.Ref, Action: Modify, Changes: then, was: is, at: r.At})
			}
		}
	}
	p.Steps = append(p.Steps, later...)
	if prune {
		p.prune(found, wanted)
	}
	if len(refusals) > 0 {
		return nil, refused(refusals)
	}
	return p, nil
}

// refused explains why nothing is changed.
func refused(why []error) error { return errors.Join(append(why, ErrRefused)...) }

func said(value *string) string {
	if value == nil || *value == "" {
		return "none"
	}
	return shorten(*value)
}

// create returns the steps that create a resource.
func create(r *Resource) (first *Step, second []*Step) {
	var changes []Change
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		if value := r.Settings[key]; value != "" || settingOf(r.Kind, key).form == whole {
			changes = append(changes, Change{Setting: key, Is: &value})
		}
	}
	now, then := r.split(changes)
	if len(then) > 0 {
		second = append(second, &Step{Ref: r.Ref, Action: Modify, Changes: then, at: r.At})
	}
	return &Step{Ref: r.Ref, Action: Create, Changes: now, at: r.At}, second
}

// split separates the changes that can be made at the resource's turn from those that must wait until all other
// resources exist.
func (r *Resource) split(changes []Change) (now, then []Change) {
	for _, c := range changes {
		if r.later && c.Setting == "dead-letters" {
			then = append(then, c)
		} else {
			now = append(now, c)
		}
	}
	return now, then
}

// changes returns the differences between the file and an existing resource.
func (r *Resource) changes(is *Actual) (changes []Change) {
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		s, want := settingOf(r.Kind, key), r.Settings[key]
		have, there := is.Settings[key]
		switch {
		case s.form == whole && there, key == accessKey && want != "true":
			continue
		case s.form == whole:
			changes = append(changes, Change{Setting: key, Is: &want})
			continue
		case r.Kind == SubscriptionKind && key == "filter-scope" && !there:
			// SNS shows no scope without a filter, and it has no effect. With a filter, the previous scope is unknown.
			if !letsAllThrough(r.Settings["filter"]) {
				changes = append(changes, Change{Setting: key, Is: &want})
			}
			continue
		case !there:
			have = s.standard
		}
		if s.shape.same(have, want) && (there || have != "" || want == "") {
			continue
		}
		c := Change{Setting: key, Is: &want}
		if have != "" || there {
			c.Was = &have
		}
		if want == "" && s.form == entries && s.shape == &documentShape {
			c.Is = nil
		}
		changes = append(changes, c)
	}
	for _, list := range r.Complete {
		present := is.Settings.under(list)
		for _, entry := range slices.Sorted(maps.Keys(present)) {
			if _, wanted := r.Settings[list+"."+entry]; !wanted {
				value := present[entry]
				changes = append(changes, Change{Setting: list + "." + entry, Was: &value})
			}
		}
	}
	return changes
}

// prune adds the deletion of resources that the file has made and no longer has, dependents first. Subscriptions have
// no tags: one is deleted if the file made both its topic and its queue.
func (p *Plan) prune(found Found, wanted map[Ref]bool) {
	made := func(r Ref) bool { return found[r] != nil && found[r].appliedBy() == p.Name }
	gone := func(r Ref) bool { return made(r) && !wanted[r] }
	var leave []Ref
	for ref := range found {
		if wanted[ref] {
			continue
		}
		if ref.Kind == SubscriptionKind {
			name, protocol, endpoint := ref.subscription()
			topic := newRef(ref.Scope, TopicKind, name)
			queue, isQueue := refOfARN(endpoint)
			if gone(topic) || protocol != "sqs" || !isQueue || !made(topic) || !made(queue) {
				continue
			}
		} else if !made(ref) {
			continue
		}
		leave = append(leave, ref)
	}
	slices.SortFunc(leave, func(a, b Ref) int { return inOrder(b, a) })
	composites := slices.IndexFunc(leave, func(r Ref) bool { return r.Kind != CompositeKind })
	if composites < 0 {
		composites = len(leave)
	}
	leave = append(dependentsFirst(leave[:composites], found), leave[composites:]...)
	for _, ref := range leave {
		p.Steps = append(p.Steps, &Step{Ref: ref, Action: Delete, was: found[ref]})
	}
}

// Count returns the number of steps with an action.
func (p *Plan) Count(a Action) (n int) {
	for _, s := range p.Steps {
		if s.Action == a {
			n++
		}
	}
	return n
}

// Print prints the plan for people, one line per setting.
func (p *Plan) Print(w io.Writer, home Scope) {
	for _, s := range p.Steps {
		s.Print(w, home)
	}
	for _, note := range p.Notes {
		fmt.Fprintln(w, "note:", note)
	}
	if len(p.Steps) == 0 {
		fmt.Fprintf(w, "%s: all is as the file says\n", p.Name)
		return
	}
	if len(p.Losing()) > 0 {
		fmt.Fprintln(w, "note: an apply deletes queues that have messages only with --prune-non-empty")
	}
	fmt.Fprintf(w, "%s: %d to create, %d to change, %d to delete\n", p.Name, p.Count(Create), p.Count(Modify), p.Count(Delete))
}

// signs begin the lines of a plan.
var signs = map[Action]string{Create: "+", Modify: "~", Delete: "-"}

// Print prints the step.
func (s *Step) Print(w io.Writer, home Scope) {
	fmt.Fprintf(w, "%s %s%s\n", signs[s.Action], s.Ref, s.where(home))
	for _, c := range s.Changes {
		fmt.Fprintln(w, "    "+c.describe(s.Ref))
	}
	if s.Action == Delete && !s.was.messages.None() {
		fmt.Fprintln(w, "    "+s.was.messages.String())
	}
}

// where returns the parts of the scope that differ from home.
func (r Ref) where(home Scope) string {
	var parts []string
	if r.Account != home.Account {
		parts = append(parts, "account "+r.Account)
	}
	if r.Region != home.Region && r.Region != "" {
		parts = append(parts, r.Region)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// describe returns a change as a line.
func (c *Change) describe(r Ref) string {
	s := settingOf(r.Kind, c.Setting)
	name, entry, isEntry := strings.Cut(c.Setting, ".")
	if isEntry && s.form == whole {
		value := fmt.Sprint(s.shape.shown(r.Scope, entry))
		if c.Is == nil {
			return name + ": without " + value
		}
		return name + ": with " + value
	}
	if s.name == permission {
		return "policy: lets " + shortened(r.Scope, entry) + " send"
	}
	value := func(v *string) string {
		if v == nil || *v == "" {
			return none
		}
		return oneLine(s.shape.shown(r.Scope, *v))
	}
	if c.Was == nil {
		return c.Setting + ": " + value(c.Is)
	}
	return c.Setting + ": " + value(c.Was) + " -> " + value(c.Is)
}

// oneLine writes a value as YAML in one line.
func oneLine(v any) string {
	switch v := v.(type) {
	case []entry:
		var parts []string
		for _, e := range v {
			parts = append(parts, e.name+": "+oneLine(e.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, one := range v {
			parts = append(parts, oneLine(one))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return printable(v)
	}
	return printable(fmt.Sprint(v))
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// MarshalJSON writes the plan for programs.
func (p *Plan) MarshalJSON() ([]byte, error) {
	type change struct {
		Setting string
		Was     *string `json:",omitempty"`
		Is      *string `json:",omitempty"`
	}
	type step struct {
		Action, Kind, Name, Account string
		Region                      string    `json:",omitempty"`
		Changes                     []change  `json:",omitempty"`
		Messages                    *Messages `json:",omitempty"` // of a queue that is deleted
	}
	steps := []step{}
	for _, s := range p.Steps {
		out := step{string(s.Action), string(s.Kind), weburl.Masked(s.Name), s.Account, s.Region, nil, nil}
		for _, c := range s.Changes {
			out.Changes = append(out.Changes, change(c))
		}
		if s.Action == Delete && s.Kind == QueueKind {
			out.Messages = &s.was.messages
		}
		steps = append(steps, out)
	}
	return json.Marshal(struct {
		Name  string
		Steps []step
		Notes []string `json:",omitempty"`
	}{p.Name, steps, p.Notes})
}

// PrintDone prints the last line of an apply. left steps were not done because one failed.
func (p *Plan) PrintDone(w io.Writer, left int) {
	done := fmt.Sprintf("%d created, %d changed, %d deleted", p.Count(Create), p.Count(Modify), p.Count(Delete))
	switch {
	case left > 0:
		fmt.Fprintf(w, "%s: stopped: %s, %d not done\n", p.Name, done, left)
	case len(p.Steps) == 0:
		fmt.Fprintf(w, "%s: all is as the file says\n", p.Name)
	default:
		fmt.Fprintf(w, "%s: %s\n", p.Name, done)
	}
}

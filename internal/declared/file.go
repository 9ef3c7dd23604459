package declared

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// File is the wanted state of a file.
type File struct {
	Name      string // the file's field name
	Path      string // for errors
	Resources []*Resource
	Home      Scope // of resources without an account or region in the file
}

// Scopes returns home and the accounts and regions that the file names.
func (f *File) Scopes() []Scope {
	all := map[Scope]bool{f.Home: true}
	for _, r := range f.Resources {
		s := r.Scope
		if s.Region == "" {
			s.Region = f.Home.Region
		}
		all[s] = true
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b Scope) int {
		return strings.Compare(a.Account+" "+a.Region, b.Account+" "+b.Region)
	})
}

// fileReader reads a file, one scope after the other.
type fileReader struct {
	*reader
	scope    Scope
	declared map[Ref]string // resources of the file, with the IAM paths of entities
	file     *File
	grants   []*grant
}

// fileName matches the names of files, which are values of a tag.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./=+@-]{0,99}$`)

// Parse reads a file. home is the scope of resources without an account or region; path is the file's name in errors.
func Parse(text []byte, path string, home Scope) (*File, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s: this has %d bytes: at most %d", path, len(text), MaxFile)
	}
	var document yaml.Node
	if err := yaml.Load(text, &document); err != nil {
		if wrong := new(yaml.LoadError); errors.As(err, &wrong) && wrong.Mark.Line > 0 {
			return nil, &Problem{path, Position{wrong.Mark.Line, wrong.Mark.Column + 1}, wrong.Message}
		}
		return nil, fmt.Errorf("%s: %w: it needs at least a line such as name: shop", path, err)
	}
	if len(document.Content) == 0 || isNull(document.Content[0]) {
		return nil, fmt.Errorf("%s: this is empty: it needs at least a line such as name: shop", path)
	}
	f := &fileReader{
		reader: &reader{file: path}, scope: home, declared: make(map[Ref]string), file: &File{Home: home, Path: path},
	}
	top := document.Content[0]
	quiet := &fileReader{reader: &reader{file: path}, scope: home, declared: f.declared, file: f.file}
	quiet.sections(top, true, quiet.declare)
	if !f.sections(top, true, f.section) {
		return nil, f.err()
	}
	if f.file.Name == "" && len(f.problems) == 0 {
		f.fail(top, "name is missing: a line such as name: shop, by which what the file has made is known again")
	}
	f.grant()
	f.checkAll()
	f.order()
	if len(f.file.Resources) > MaxResources {
		f.fail(top, "this has %d resources: at most %d", len(f.file.Resources), MaxResources)
	}
	return f.file, f.err()
}

// sections calls each with the sections of a scope, and of the scopes in it. It reports whether there is a mapping at
// all.
func (f *fileReader) sections(n *yaml.Node, top bool, each func(Kind, *yaml.Node)) bool {
	what := "this part of the file"
	known := make(map[string]func(*yaml.Node))
	for _, k := range kinds {
		if k != SubscriptionKind {
			known[k.plural()] = func(v *yaml.Node) { each(k, v) }
		}
	}
	if top {
		what = "the file"
		known["name"] = f.name
		known["accounts"] = func(v *yaml.Node) { f.accounts(v, each) }
	}
	known["regions"] = func(v *yaml.Node) { f.regions(v, each) }
	if n = f.value(n); n.Kind != yaml.MappingNode {
		f.fail(n, "want lines such as queues:, topics: and users:")
		return false
	}
	f.fields(n, what, known)
	return true
}

func (f *fileReader) name(v *yaml.Node) {
	if name, ok := f.text(v, "a name"); ok && fileName.MatchString(name) {
		f.file.Name = name
	} else if ok {
		f.fail(v, "%s: a name has at most 100 letters, digits and _./=+@-", shorten(name))
	}
}

var (
	accountNumber = regexp.MustCompile(`^[0-9]{12}$`)
	regionName    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
)

func (f *fileReader) accounts(v *yaml.Node, each func(Kind, *yaml.Node)) {
	f.mapping(v, "a mapping of account numbers", func(key, value *yaml.Node) {
		if !accountNumber.MatchString(key.Value) {
			f.fail(key, "%s: an account is a number of 12 digits", shorten(key.Value))
			return
		}
		if key.Value == f.file.Home.Account {
			f.fail(key, "%s is the account of the keys that are used: what is in it stands outside of accounts", key.Value)
			return
		}
		was := f.scope
		f.scope.Account = key.Value
		f.sections(value, false, each)
		f.scope = was
	})
}

func (f *fileReader) regions(v *yaml.Node, each func(Kind, *yaml.Node)) {
	f.mapping(v, "a mapping of regions", func(key, value *yaml.Node) {
		switch {
		case !regionName.MatchString(key.Value):
			f.fail(key, "%s: want a region, such as eu-west-1", shorten(key.Value))
			return
		case key.Value == f.scope.Region:
			f.fail(key, "%s is the region that is used: what is in it stands outside of regions", key.Value)
			return
		}
		was := f.scope
		f.scope.Region = key.Value
		known := make(map[string]func(*yaml.Node))
		for _, k := range kinds {
			known[k.plural()] = func(v *yaml.Node) {
				if k.ofAccount() {
					f.fail(v, "%s belong to an account in all regions: they stand outside of regions", k.plural())
					return
				}
				each(k, v)
			}
		}
		delete(known, SubscriptionKind.plural())
		f.fields(value, "a region", known)
		f.scope = was
	})
}

// declare records which resources exist, so that others can name them before they are read.
func (f *fileReader) declare(k Kind, section *yaml.Node) {
	f.mapping(section, "a mapping", func(key, value *yaml.Node) {
		path := ""
		if v := f.value(value); v.Kind == yaml.MappingNode && k.ofAccount() {
			for i := 0; i+1 < len(v.Content); i += 2 {
				if v.Content[i].Value == "path" {
					path = f.value(v.Content[i+1]).Value
				}
			}
		}
		f.declared[newRef(f.scope, k, key.Value)] = path
	})
}

// section reads the resources of one kind in one scope.
func (f *fileReader) section(k Kind, section *yaml.Node) {
	what := fmt.Sprintf("a mapping of the names of %s to their settings", k.plural())
	f.mapping(section, what, func(key, value *yaml.Node) {
		r := newResource(newRef(f.scope, k, key.Value), key)
		if !names[k].MatchString(key.Value) {
			f.fail(key, "%s cannot be the name of a %s: want %s", shorten(key.Value), k, nameHelp[k])
			return
		}
		f.file.Resources = append(f.file.Resources, r)
		f.settings(r, value, f.extras(r, value))
		f.complete(r, key)
	})
}

// names matches the names of resources. The API refuses other mistakes in them.
var names = map[Kind]*regexp.Regexp{
	QueueKind:     regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$|^[A-Za-z0-9_-]{1,75}\.fifo$`),
	TopicKind:     regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$|^[A-Za-z0-9_-]{1,251}\.fifo$`),
	AlarmKind:     regexp.MustCompile(`^[^\x00-\x1f]{1,255}$`),
	CompositeKind: regexp.MustCompile(`^[^\x00-\x1f]{1,255}$`),
	UserKind:      regexp.MustCompile(`^[\w+=,.@-]{1,64}$`),
	GroupKind:     regexp.MustCompile(`^[\w+=,.@-]{1,128}$`),
	RoleKind:      regexp.MustCompile(`^[\w+=,.@-]{1,64}$`),
	PolicyKind:    regexp.MustCompile(`^[\w+=,.@-]{1,128}$`),
	LimitKind:     regexp.MustCompile(`^[0-9]{12}(/[\w+=,.@-]{1,64})?$`),
}

var nameHelp = map[Kind]string{
	QueueKind:     "1 to 80 letters, digits, hyphens and underscores, with .fifo at the end of a FIFO queue's",
	TopicKind:     "1 to 256 letters, digits, hyphens and underscores, with .fifo at the end of a FIFO topic's",
	AlarmKind:     "1 to 255 characters",
	CompositeKind: "1 to 255 characters",
	UserKind:      "1 to 64 letters, digits and _+=,.@-",
	GroupKind:     "1 to 128 letters, digits and _+=,.@-",
	RoleKind:      "1 to 64 letters, digits and _+=,.@-",
	PolicyKind:    "1 to 128 letters, digits and _+=,.@-",
	LimitKind:     "an account, such as 111122223333, or a user of one, such as 111122223333/bob",
}

// settings reads the settings of a resource. extra are names besides those of its kind.
func (f *fileReader) settings(r *Resource, n *yaml.Node, extra map[string]func(*yaml.Node)) {
	known := make(map[string]func(*yaml.Node))
	for i := range kindSettings[r.Kind] {
		s := &kindSettings[r.Kind][i]
		if s.name == permission {
			continue
		}
		known[s.name] = func(v *yaml.Node) { f.setting(r, s, v) }
	}
	maps.Copy(known, extra)
	f.fields(n, "a "+string(r.Kind), known)
}

func (f *fileReader) setting(r *Resource, s *setting, v *yaml.Node) {
	switch s.form {
	case single:
		r.stands(s.name, f.value(v))
		if value, ok := s.shape.parse(f, v); ok && f.inRange(s, v, r.Scope, value) {
			r.Settings[s.name] = value
		}
	case whole:
		r.Complete = append(r.Complete, s.name)
		if isNoList(f.value(v)) {
			return
		}
		f.list(v, func(one *yaml.Node) {
			if value, ok := s.shape.parse(f, one); ok {
				r.Settings[s.name+"."+value] = ""
				r.stands(s.name+"."+value, f.value(one))
			}
		})
	case entries:
		f.mapping(v, "a mapping", func(key, value *yaml.Node) {
			switch {
			case s.name == "tags" && strings.HasPrefix(key.Value, "sluice-applied-"):
				f.fail(key, "%s is the tag of what apply makes, which it writes itself", AppliedBy)
			case s.name == "attributes" && strings.HasPrefix(key.Value, "Fifo") &&
				byAttribute(r.Kind, key.Value) == nil:
				f.fail(key, "whether a %s is FIFO is in its name, which ends in .fifo", r.Kind)
			case s.name == "attributes" && byAttribute(r.Kind, key.Value) != nil:
				f.fail(key, "%s has a name of its own here: %s", key.Value, byAttribute(r.Kind, key.Value).name)
			default:
				if text, ok := s.shape.parse(f, value); ok {
					r.Settings[s.name+"."+key.Value] = text
					r.stands(s.name+"."+key.Value, f.value(value))
				}
			}
		})
	}
}

func isNoList(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Value == none }

// extras returns the names that a kind of resource has in the file besides settings.
func (f *fileReader) extras(r *Resource, n *yaml.Node) map[string]func(*yaml.Node) {
	isFIFO := func(v *yaml.Node) {
		if said, ok := boolShape.parse(f, v); ok && (said == "true") != strings.HasSuffix(r.Name, ".fifo") {
			f.fail(
				f.value(v),
				"whether a %s is FIFO is in its name, which ends in .fifo, and cannot be changed: one of the other name is another %s",
				r.Kind,
				r.Kind,
			)
		}
	}
	switch r.Kind {
	case QueueKind:
		return map[string]func(*yaml.Node){"fifo": isFIFO}
	case TopicKind:
		return map[string]func(*yaml.Node){
			"fifo": isFIFO, "subscriptions": func(v *yaml.Node) { f.subscriptions(r.Name, v) },
		}
	case AlarmKind:
		about := func(k Kind, namespace, name string) func(*yaml.Node) {
			return func(v *yaml.Node) {
				text, ok := f.text(v, "the name of a "+string(k))
				if !ok {
					return
				}
				if _, twice := r.Settings["dimensions"]; twice {
					f.fail(f.value(v), "an alarm is about one queue or topic, or has dimensions")
				}
				r.stands("dimensions", f.value(v))
				r.Settings["namespace"], r.Settings["dimensions"] = namespace, encodeDimensions(map[string]string{name: text})
			}
		}
		return map[string]func(*yaml.Node){
			"queue": about(QueueKind, "AWS/SQS", "QueueName"),
			"topic": about(TopicKind, "AWS/SNS", "TopicName"),
		}
	}
	return nil
}

// complete checks a resource as a whole.
func (f *fileReader) complete(r *Resource, at *yaml.Node) {
	fifo := strings.HasSuffix(r.Name, ".fifo")
	switch r.Kind {
	case QueueKind, TopicKind:
		for _, name := range []string{
			"content-based-deduplication", "deduplication-scope", "throughput-limit", "throughput-scope",
		} {
			if _, there := r.Settings[name]; there && !fifo {
				f.fail(at, "%s %s: %s is for FIFO %ss, whose names end in .fifo", r.Kind, shorten(r.Name), name, r.Kind)
			}
		}
	case PolicyKind:
		f.require(r, at, "document")
	case LimitKind:
		f.checkLimit(r, at)
	case RoleKind:
		f.require(r, at, "trust")
	case CompositeKind:
		f.require(r, at, "rule")
		if r.Settings[suppressor] != "" {
			f.require(r, at, suppressor+"-wait", suppressor+"-extension")
		}
	case AlarmKind:
		f.require(r, at, "when", "periods")
		_, metric := r.Settings["metric"]
		if _, math := r.Settings["metrics"]; metric == math {
			f.fail(at, "alarm %s: want a metric, or metrics", shorten(r.Name))
		} else if metric {
			f.require(r, at, "namespace", statistic, "period")
		}
	}
}

func (f *fileReader) require(r *Resource, at *yaml.Node, settings ...string) {
	for _, name := range settings {
		if r.Settings[name] == "" && len(f.problems) == 0 {
			f.fail(at, "%s %s has no %s", r.Kind, shorten(r.Name), name)
		}
	}
}

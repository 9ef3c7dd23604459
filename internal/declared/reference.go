package declared

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// ARN returns the ARN of a resource. path is the IAM path of users, groups, roles and policies.
func (r Ref) ARN(path string) string {
	at := "arn:" + r.Partition + ":"
	switch r.Kind {
	case QueueKind:
		return at + "sqs:" + r.Region + ":" + r.Account + ":" + r.Name
	case TopicKind:
		return at + "sns:" + r.Region + ":" + r.Account + ":" + r.Name
	case AlarmKind, CompositeKind:
		return at + "cloudwatch:" + r.Region + ":" + r.Account + ":alarm:" + r.Name
	}
	return at + "iam::" + r.Account + ":" + string(r.Kind) + cmp.Or(path, "/") + r.Name
}

// refOfARN returns the resource in an ARN of a queue or topic.
func refOfARN(arn string) (Ref, bool) {
	p := strings.SplitN(arn, ":", 6)
	if len(p) != 6 || p[0] != "arn" {
		return Ref{}, false
	}
	s := Scope{p[1], p[4], p[3]}
	switch {
	case p[2] == "sqs":
		return Ref{s, QueueKind, p[5]}, true
	case p[2] == "sns" && !strings.Contains(p[5], ":"):
		return Ref{s, TopicKind, p[5]}, true
	}
	return Ref{}, false
}

// shortened returns the name of a queue or topic of the same scope, and other ARNs unchanged.
func shortened(s Scope, arn string) string {
	if r, ok := refOfARN(arn); ok && r.Scope == s && r.Name != none {
		return r.Name
	}
	return arn
}

// arn returns the ARN for a name, which must be in the file and the same scope, or be an ARN.
func (f *fileReader) arn(n *yaml.Node, k Kind, name string) (string, bool) {
	if strings.HasPrefix(name, "arn:") {
		return name, true
	}
	ref := newRef(f.scope, k, name)
	path, ok := f.declared[ref]
	if !ok {
		f.fail(n, "there is no %s %s here%s", k, shorten(name), f.otherwise(k, name))
		return "", false
	}
	return ref.ARN(path), true
}

// otherwise describes what a name could be, or what else is allowed in its place.
func (f *fileReader) otherwise(k Kind, name string) string {
	var names []string
	for other := range f.declared {
		if other == newRef(f.scope, k, other.Name) {
			names = append(names, other.Name)
		}
	}
	slices.Sort(names)
	if near := suggest(name, names); strings.HasPrefix(near, "; did") {
		return near
	}
	return ": name one that this part of the file has, or give an ARN"
}

// references are replaced in texts: ${queue.orders}, ${account}. With another $ in front, they are not replaced.
var references = regexp.MustCompile(`\$?\$\{(?:(queue|topic|user|role|group|policy)\.([^{}]*)|(account|region|partition))\}`)

// expand replaces the references in a text with ARNs.
func (f *fileReader) expand(n *yaml.Node, text string) string {
	return references.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found[1:]
		}
		m := references.FindStringSubmatch(found)
		switch m[3] {
		case "account":
			return f.scope.Account
		case "region":
			return f.scope.Region
		case "partition":
			return f.scope.Partition
		}
		arn, _ := f.arn(f.value(n), Kind(m[1]), m[2])
		return arn
	})
}

// escape returns a text that expand converts back to this one.
func escape(text string) string {
	return references.ReplaceAllStringFunc(text, func(found string) string { return "$" + found })
}

// redrive is the value of RedrivePolicy.
type redrive struct {
	Target   string `json:"deadLetterTargetArn"`
	Receives any    `json:"maxReceiveCount,omitempty"`
}

const (
	standardReceives = 5
	maxReceives      = 1000
)

var deadLettersShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		n = f.value(n)
		receives := int64(standardReceives)
		if n.Kind != yaml.MappingNode {
			return f.deadLetters(n, receives)
		}
		text, ok := "", false
		queue := n
		f.fields(n, "dead-letters", map[string]func(*yaml.Node){
			"queue": func(v *yaml.Node) { queue = f.value(v) },
			"max-receives": func(v *yaml.Node) {
				v = f.value(v)
				var err error
				if receives, err = strconv.ParseInt(v.Value, 10, 32); err != nil || receives < 1 ||
					receives > maxReceives {
					f.fail(v, "want a number of receives from 1 to %d, such as %d", maxReceives, standardReceives)
				}
			},
		})
		if queue == n {
			f.fail(n, "dead-letters has no queue")
			return "", false
		}
		text, ok = f.deadLetters(queue, receives)
		return text, ok
	},
	canonical: func(value string) string {
		var p redrive
		if json.Unmarshal([]byte(value), &p) != nil {
			return value
		}
		return fmt.Sprint(p.Target, " ", p.Receives)
	},
	show: func(s Scope, value string) any {
		var p redrive
		if json.Unmarshal([]byte(value), &p) != nil {
			return value
		}
		return []entry{{"queue", shortened(s, p.Target)}, {"max-receives", plain(fmt.Sprint(p.Receives))}}
	},
	schema: map[string]any{"oneOf": []any{
		map[string]any{"type": "string"},
		map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"queue"},
			"properties": map[string]any{
				"queue":        map[string]any{"type": "string"},
				"max-receives": map[string]any{"type": "integer", "minimum": 1, "maximum": 1000},
			},
		},
	}},
}

func (f *fileReader) deadLetters(n *yaml.Node, receives int64) (string, bool) {
	name, ok := f.text(n, "the name of a queue")
	if !ok || name == none {
		return "", ok
	}
	arn, ok := f.arn(n, QueueKind, name)
	return encodeJSON(redrive{arn, receives}), ok
}

// undeliveredShape is the queue for undelivered messages of a subscription.
var undeliveredShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		name, ok := f.text(n, "the name of a queue")
		if !ok || name == none {
			return "", ok
		}
		arn, ok := f.arn(f.value(n), QueueKind, name)
		return encodeJSON(redrive{Target: arn}), ok
	},
	canonical: canonicalJSON,
	show: func(s Scope, value string) any {
		var p redrive
		if json.Unmarshal([]byte(value), &p) != nil {
			return value
		}
		return shortened(s, p.Target)
	},
	schema: map[string]any{"type": "string"},
}

// redriveAllow is the value of RedriveAllowPolicy.
type redriveAllow struct {
	Permission string   `json:"redrivePermission"`
	Sources    []string `json:"sourceQueueArns,omitempty"`
}

var redriveAllowShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		if v := f.value(n); v.Kind == yaml.ScalarNode && slices.Contains([]string{"allowAll", "denyAll"}, v.Value) {
			return encodeJSON(redriveAllow{Permission: v.Value}), true
		}
		if v := f.value(n); v.Kind == yaml.ScalarNode && v.Value == none {
			return "", true
		}
		p, ok := redriveAllow{Permission: "byQueue"}, true
		f.list(n, func(one *yaml.Node) {
			name, isText := f.text(one, "the name of a queue, allowAll or denyAll")
			arn, known := "", false
			if isText {
				arn, known = f.arn(f.value(one), QueueKind, name)
			}
			p.Sources, ok = append(p.Sources, arn), ok && known
		})
		return encodeJSON(p), ok
	},
	canonical: func(value string) string {
		var p redriveAllow
		if json.Unmarshal([]byte(value), &p) != nil {
			return value
		}
		slices.Sort(p.Sources)
		return encodeJSON(p)
	},
	show: func(s Scope, value string) any {
		var p redriveAllow
		if json.Unmarshal([]byte(value), &p) != nil {
			return value
		}
		if p.Permission != "byQueue" {
			return p.Permission
		}
		out := []any{}
		for _, arn := range p.Sources {
			out = append(out, shortened(s, arn))
		}
		return out
	},
	schema: map[string]any{
		"oneOf": []any{
			map[string]any{"type": "string"},
			map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
		},
	},
}

var filterShape = shape{
	parse: jsonShape.parse,
	canonical: func(value string) string {
		if value = canonicalJSON(value); value == "{}" {
			return ""
		}
		return value
	},
	show:   showDocument,
	schema: jsonShape.schema,
}

// topicsShape is the topics that an alarm notifies.
var topicsShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		arns, ok := []string{}, true
		f.list(n, func(one *yaml.Node) {
			name, isText := f.text(one, "the name of a topic")
			arn, known := "", false
			if isText {
				arn, known = f.arn(f.value(one), TopicKind, name)
			}
			arns, ok = append(arns, arn), ok && known
		})
		return encodeJSON(arns), ok
	},
	canonical: func(value string) string {
		var arns []string
		if json.Unmarshal([]byte(value), &arns) != nil {
			return value
		}
		slices.Sort(arns)
		return encodeJSON(arns)
	},
	show: func(s Scope, value string) any {
		var arns []string
		if json.Unmarshal([]byte(value), &arns) != nil {
			return value
		}
		out := []any{}
		for _, arn := range arns {
			out = append(out, shortened(s, arn))
		}
		return out
	},
	schema: map[string]any{"type": []string{"string", "array"}, "items": map[string]any{"type": "string"}},
}

// dimension is a dimension of a metric.
type dimension struct{ Name, Value string }

func encodeDimensions(of map[string]string) string {
	out := []dimension{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, dimension{name, of[name]})
	}
	return encodeJSON(out)
}

func decodeDimensions(value string) map[string]string {
	var list []dimension
	if json.Unmarshal([]byte(value), &list) != nil {
		return nil
	}
	out := make(map[string]string)
	for _, d := range list {
		out[d.Name] = d.Value
	}
	return out
}

var dimensionsShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		out, ok := make(map[string]string), true
		f.mapping(n, "a mapping of dimensions", func(key, value *yaml.Node) {
			text, isText := f.text(value, "a text")
			out[key.Value], ok = f.expand(value, text), ok && isText
		})
		return encodeDimensions(out), ok
	},
	canonical: func(value string) string { return encodeDimensions(decodeDimensions(value)) },
	show: func(_ Scope, value string) any {
		of, out := decodeDimensions(value), []entry{}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			out = append(out, entry{name, escape(of[name])})
		}
		return out
	},
	schema: map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}},
}

// metricsShape is a list of queries in CloudWatch's form.
var metricsShape = shape{
	parse: jsonShape.parse,
	canonical: func(value string) string {
		var list []map[string]any
		if json.Unmarshal([]byte(value), &list) != nil {
			return value
		}
		for _, q := range list {
			if q["ReturnData"] == nil {
				q["ReturnData"] = true
			}
			if stat, ok := q["MetricStat"].(map[string]any); ok {
				if m, ok := stat["Metric"].(map[string]any); ok && len(several(m["Dimensions"])) == 0 {
					delete(m, "Dimensions")
				}
			}
		}
		return canonicalJSON(encodeJSON(list))
	},
	show:   showDocument,
	schema: map[string]any{"type": "array", "items": map[string]any{"type": "object"}},
}

// comparisons are CloudWatch's names for signs.
var comparisons = map[string]string{
	">": "GreaterThanThreshold", ">=": "GreaterThanOrEqualToThreshold", "<": "LessThanThreshold",
	"<=": "LessThanOrEqualToThreshold",
}

var comparisonShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := f.text(n, "a comparison: >, >=, < or <=")
		if name := comparisons[text]; name != "" {
			return name, ok
		}
		if ok && (text == "" || strings.Trim(text, "<>=! ") == "") {
			f.fail(f.value(n), "%s: want a comparison: >, >=, < or <=", shorten(text))
			return "", false
		}
		return text, ok // one for anomalies, by its name
	},
	show: func(_ Scope, value string) any {
		for sign, name := range comparisons {
			if name == value {
				return sign
			}
		}
		return value
	},
	schema: map[string]any{"type": "string"},
}

// managedShape is a managed policy.
var managedShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		name, ok := f.text(n, "the name or ARN of a managed policy")
		if !ok || name == none {
			return "", ok
		}
		ref := newRef(f.scope, PolicyKind, name)
		path, here := f.declared[ref]
		switch {
		case strings.HasPrefix(name, "arn:"):
			return name, true
		case here:
			return ref.ARN(path), true
		case name == "" || strings.ContainsAny(name, " :"):
			f.fail(f.value(n), "%s: want the name or ARN of a managed policy", shorten(name))
			return "", false
		}
		return "arn:" + f.scope.Partition + ":iam::aws:policy/" + name, true
	},
	show:   func(s Scope, value string) any { return shortPolicy(s, value) },
	schema: map[string]any{"type": "string"},
}

// shortPolicy returns the name of a policy of AWS or of the account, and the ARN of another.
func shortPolicy(s Scope, arn string) string {
	if name, ok := strings.CutPrefix(arn, "arn:"+s.Partition+":iam::"+s.Account+":policy/"); ok {
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	if name, ok := strings.CutPrefix(arn, "arn:"+s.Partition+":iam::aws:policy/"); ok && !strings.Contains(name, "/") {
		return name
	}
	return arn
}

// groupShape is a group of the same account.
var groupShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		name, ok := f.text(n, "the name of a group")
		if !ok {
			return "", false
		}
		if _, here := f.declared[newRef(f.scope, GroupKind, name)]; !here {
			f.fail(
				f.value(n),
				"there is no group %s here%s",
				shorten(name),
				strings.TrimSuffix(f.otherwise(GroupKind, name), ", or give an ARN"),
			)
			return "", false
		}
		return name, true
	},
	schema: map[string]any{"type": "string"},
}

// splitARN returns the partition of an ARN, or "".
func splitARN(arn string) string {
	if p := strings.SplitN(arn, ":", 3); len(p) == 3 && p[0] == "arn" {
		return p[1]
	}
	return ""
}

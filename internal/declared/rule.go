package declared

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarmrule"
)

// ruleShape is the rule of a composite alarm.
var ruleShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := textShape.parse(f, n)
		if !ok {
			return "", false
		}
		if _, err := alarmrule.Parse(text); err != nil {
			f.fail(f.value(n), "rule: %v", err)
			return "", false
		}
		return text, true
	},
	show:   textShape.show,
	schema: map[string]any{"type": "string"},
}

// suppressorShape is the name or ARN of an alarm, or none.
var suppressorShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := textShape.parse(f, n)
		if text == none {
			text = ""
		}
		return text, ok
	},
	show:   textShape.show,
	schema: map[string]any{"type": "string"},
}

// compositesOf returns the composite alarms that may exist among the alarms in a rule, and its suppressor.
func compositesOf(r Ref, s Settings) (refs []Ref) {
	if r.Kind != CompositeKind {
		return nil
	}
	var named []string
	if rule, err := alarmrule.Parse(s["rule"]); err == nil {
		named = rule.Children()
	}
	for _, name := range append(named, s[suppressor]) {
		ref := newRef(r.Scope, CompositeKind, "")
		ref.Name = strings.TrimPrefix(name, ref.ARN(""))
		if ref.Name != "" && ref != r {
			refs = append(refs, ref)
		}
	}
	return refs
}

package cloudwatch

import (
	"encoding/json"
	"fmt"
)

// fault is a mistake at a place in the text of a dashboard.
type fault struct {
	Path    string `json:"dataPath"`
	Message string `json:"message"`
}

// maxFaults is the maximum number of faults in a refusal.
const maxFaults = 100

// shown returns faults in the form of a refusal.
func shown(faults []fault) string {
	text, err := json.MarshalIndent(faults, "", "  ")
	if err != nil {
		panic(err) // texts have a JSON form
	}
	return string(text)
}

// checkBody returns the mistakes in the text of a dashboard: it must be an object, and its widgets objects with a type
// and properties. checkBody also checks the properties of widgets that show metrics.
func checkBody(body []byte) []fault {
	var dashboard map[string]json.RawMessage
	if faults := isShape("/", body, &dashboard, "object"); faults != nil {
		return faults
	}
	raw, there := dashboard["widgets"]
	if !there {
		return nil
	}
	var widgets []json.RawMessage
	faults := isShape("/widgets", raw, &widgets, "array")
	for i, widget := range widgets {
		if len(faults) >= maxFaults {
			break
		}
		faults = append(faults, checkWidget(fmt.Sprintf("/widgets/%d", i), widget)...)
	}
	return faults[:min(len(faults), maxFaults)]
}

// checkWidget returns the mistakes in a widget.
func checkWidget(path string, raw []byte) (faults []fault) {
	var widget map[string]json.RawMessage
	if faults := isShape(path, raw, &widget, "object"); faults != nil {
		return faults
	}
	var kind string
	if raw, there := widget["type"]; there {
		faults = isShape(path+"/type", raw, &kind, "string")
	}
	raw, there := widget["properties"]
	if !there {
		return faults
	}
	path += "/properties"
	var properties map[string]json.RawMessage
	if wrong := isShape(path, raw, &properties, "object"); wrong != nil {
		return append(faults, wrong...)
	}
	if kind == "metric" {
		faults = append(faults, checkMetricWidget(path, properties)...)
	}
	return faults
}

// checkMetricWidget returns the mistakes in the properties of a widget with metrics or alarms. The words, and the order
// of the messages about missing properties, are AWS's.
func checkMetricWidget(path string, properties map[string]json.RawMessage) []fault {
	raw, there := properties["metrics"]
	if _, alarms := properties["annotations"]; !there && !alarms {
		return []fault{
			{path, "Should have required property 'metrics'"},
			{path, "The metric widget should have specified a region and a data source or an alarm annotation"},
			{path, "Should have required property 'annotations'"},
		}
	}
	if !there {
		return nil
	}
	path += "/metrics"
	var metrics []json.RawMessage
	faults := isShape(path, raw, &metrics, "array")
	for i, metric := range metrics {
		if len(faults) >= maxFaults {
			break
		}
		faults = append(faults, checkShownMetric(fmt.Sprintf("%s/%d", path, i), metric)...)
	}
	return faults
}

// checkShownMetric returns the mistakes in a metric of a widget: texts, and optionally an object at the end.
func checkShownMetric(path string, raw []byte) (faults []fault) {
	var fields []json.RawMessage
	if isShape(path, raw, &fields, "array") != nil {
		return []fault{
			{path, `Field "metrics" has to be an array of array of strings, with an optional metricRenderer object as last element`},
		}
	}
	for i, field := range fields {
		if json.Unmarshal(field, new(string)) == nil && string(field) != "null" || i == len(fields)-1 && field[0] == '{' {
			continue
		}
		if len(faults) < maxFaults {
			faults = append(faults, fault{fmt.Sprintf("%s/%d", path, i), "Invalid metric field type, only 'String' type is allowed"})
		}
	}
	return faults
}

// isShape parses a part of the text, and returns a fault if it has another shape.
func isShape(path string, raw []byte, into any, shape string) []fault {
	err := json.Unmarshal(raw, into)
	switch {
	case err == nil && string(raw) != "null":
		return nil
	case err != nil && !json.Valid(raw):
		return []fault{{path, "Should be valid JSON: " + err.Error()}}
	}
	return []fault{{path, "Should be " + shape}}
}

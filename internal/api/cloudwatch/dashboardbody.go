package cloudwatch

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/sluicemq/sluice/internal/api/service"
)

// fault is a mistake at a place in the text of a dashboard.
type fault struct {
	Path    string `json:"dataPath"`
	Message string `json:"message"`
}

// dashboardFaults are the members of a refusal in addition to its message.
type dashboardFaults struct {
	DashboardValidationMessages []DashboardValidationMessage `json:"dashboardValidationMessages" wrap:"member"`
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

// checkBody checks the text of a dashboard: it must be an object, and its widgets objects with a type and properties.
// checkBody also checks the properties of widgets that show metrics and alarms.
func checkBody(body []byte) error {
	var dashboard map[string]json.RawMessage
	if isShape("/", body, &dashboard, "object") != nil {
		return errDashboard("The field DashboardBody must be a valid JSON object")
	}
	faults := checkWidgets(dashboard)
	if len(faults) == 0 {
		return nil
	}
	err := errDashboard("The dashboard body is invalid, there are %d validation errors:\n%s", len(faults), shown(faults))
	err.Members = dashboardFaults{service.Convert(faults, func(f fault) DashboardValidationMessage {
		return DashboardValidationMessage{DataPath: f.Path, Message: f.Message}
	})}
	return err
}

// checkWidgets returns the mistakes in the widgets of a dashboard.
func checkWidgets(dashboard map[string]json.RawMessage) []fault {
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
	switch kind {
	case "metric":
		faults = append(faults, checkMetricWidget(path, properties)...)
	case "alarm":
		faults = append(faults, checkAlarmWidget(path, properties)...)
	}
	return faults
}

// checkAlarmWidget returns the mistakes in the properties of a widget with the states of alarms.
func checkAlarmWidget(path string, properties map[string]json.RawMessage) []fault {
	raw, there := properties["alarms"]
	if !there {
		return []fault{{path, "Should have required property 'alarms'"}}
	}
	path += "/alarms"
	var alarms []string
	faults := isShape(path, raw, &alarms, "array")
	if faults == nil && len(alarms) == 0 {
		faults = []fault{{path, "Should NOT have less than 1 items"}}
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
	if faults := isShape(path, raw, &fields, "array"); faults != nil {
		return []fault{
			faults[0], {path, `Field "metrics" has to be an array of array of strings, with an optional metricRenderer object as last element`},
		}
	}
	if last := len(fields) - 1; last >= 0 && fields[last][0] == '{' && !isRenderer(fields[last]) || lacksValue(fields) {
		faults = []fault{{path, fmt.Sprintf("Should NOT have more than %d items", last)}}
	}
	for i, field := range fields {
		if json.Unmarshal(field, new(string)) == nil && string(field) != "null" ||
			i == len(fields)-1 && field[0] == '{' {
			continue
		}
		if len(faults) < maxFaults {
			faults = append(faults, fault{
				fmt.Sprintf("%s/%d", path, i), "Invalid metric field type, only 'String' type is allowed",
			})
		}
	}
	return faults
}

// lacksValue reports whether the last of the texts of a metric is the name of a dimension without a value. The text
// "..." stands for any number of texts.
func lacksValue(fields []json.RawMessage) bool {
	if len(fields)%2 == 0 || len(fields) < 3 {
		return false
	}
	for _, field := range fields {
		if field[0] != '"' || string(field) == `"..."` {
			return false
		}
	}
	return true
}

// color is the form of a color in a dashboard.
var color = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// isRenderer reports whether an object can define the rendering of a metric: none of its values has parts, such as
// dimensions, and a color has six digits.
func isRenderer(raw []byte) bool {
	var renderer map[string]any
	if json.Unmarshal(raw, &renderer) != nil {
		return false
	}
	for name, value := range renderer {
		switch value := value.(type) {
		case map[string]any, []any:
			return false
		case string:
			if name == "color" && !color.MatchString(value) {
				return false
			}
		}
	}
	return true
}

// isShape parses a part of the text, and returns a fault if it has another shape.
func isShape(path string, raw []byte, into any, shape string) []fault {
	if err := json.Unmarshal(raw, into); err == nil && string(raw) != "null" {
		return nil
	}
	return []fault{{path, "Should be " + shape}}
}

package cloudwatch

import (
	"encoding/json"
	"fmt"
)

// fault is what is wrong at a place in the text of a dashboard.
type fault struct {
	Path    string `json:"dataPath"`
	Message string `json:"message"`
}

// maxFaults is how many faults a refusal has.
const maxFaults = 100

// shown returns faults as a refusal has them.
func shown(faults []fault) string {
	text, err := json.MarshalIndent(faults, "", "  ")
	if err != nil {
		panic(err) // texts have a JSON form
	}
	return string(text)
}

// checkBody returns what is wrong with the text of a dashboard: it is an object, and its widgets are objects with a type and
// properties.
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

// checkWidget returns what is wrong with a widget.
func checkWidget(path string, raw []byte) (faults []fault) {
	var widget map[string]json.RawMessage
	if faults := isShape(path, raw, &widget, "object"); faults != nil {
		return faults
	}
	if kind, there := widget["type"]; there {
		faults = isShape(path+"/type", kind, new(string), "string")
	}
	if properties, there := widget["properties"]; there {
		faults = append(faults, isShape(path+"/properties", properties, new(map[string]json.RawMessage), "object")...)
	}
	return faults
}

// isShape reads a part of the text, and returns a fault if it is of another shape.
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

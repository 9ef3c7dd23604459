package declared

import "encoding/json"

// deliveryShape is a delivery policy. SNS shows it with the defaults of its parts, which a file may omit.
var deliveryShape = shape{
	parse: jsonShape.parse,
	canonical: func(value string) string {
		var policy map[string]any
		if json.Unmarshal([]byte(value), &policy) != nil {
			return value
		}
		withoutDefaults(policy)
		text, err := json.Marshal(policy)
		if err != nil {
			return value
		}
		return string(text)
	},
	show:   jsonShape.show,
	schema: jsonShape.schema,
}

// withoutDefaults removes the members of an object that have no effect: null, false, 0, the linear backoff, and objects
// that are empty without those.
func withoutDefaults(object map[string]any) {
	for name, value := range object {
		if nested, ok := value.(map[string]any); ok {
			withoutDefaults(nested)
			if len(nested) == 0 {
				delete(object, name)
			}
			continue
		}
		if value == nil || value == false || value == 0.0 || value == "linear" {
			delete(object, name)
		}
	}
}

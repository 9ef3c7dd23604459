package declared

import "encoding/json"

// deliveryShape is a delivery policy. SNS shows it with the defaults of its parts, which a file need not have.
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

// withoutDefaults takes the members out of an object that say the same as none: null, false, 0, the linear backoff, and
// objects in which nothing else is left.
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

package declared

import (
	"encoding/json"
	"maps"
)

// Schema returns the JSON schema of the file, for editors.
func Schema() ([]byte, error) {
	definitions := map[string]any{}
	for kind := range kindSettings {
		definitions[string(kind)] = schemaOf(kind)
	}
	sections := func(all bool) map[string]any {
		out := map[string]any{}
		for _, kind := range kinds {
			if kind != SubscriptionKind && (all || !kind.ofAccount()) {
				out[kind.plural()] = mapOf(
					map[string]any{"$ref": "#/$defs/" + string(kind)}, "the "+kind.plural()+", by their names",
				)
			}
		}
		return out
	}
	region := map[string]any{
		"type": []string{"object", "null"}, "additionalProperties": false, "properties": sections(false),
	}
	account := map[string]any{
		"type": []string{"object", "null"}, "additionalProperties": false, "properties": sections(true),
	}
	account["properties"].(map[string]any)["regions"] = mapOf(
		map[string]any{"$ref": "#/$defs/region"}, "other regions, by their names",
	)
	definitions["region"], definitions["account"] = region, account

	top := maps.Clone(account["properties"].(map[string]any))
	top["name"] = map[string]any{
		"type":        "string",
		"pattern":     fileName.String(),
		"description": "by which what the file has made is known again",
	}
	top["accounts"] = mapOf(map[string]any{"$ref": "#/$defs/account"}, "other accounts, by their numbers")
	out, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Queues as code",
		"description": "The resources that sluice apply makes on a server: queues, topics, alarms and users.",
		"type":        "object", "additionalProperties": false, "required": []string{"name"}, "properties": top,
		"$defs": definitions,
	}, "", "  ")
	return append(out, '\n'), err
}

func mapOf(values any, description string) map[string]any {
	return map[string]any{
		"type": []string{"object", "null"}, "additionalProperties": values, "description": description,
	}
}

func described(schema map[string]any, doc string) map[string]any {
	schema = maps.Clone(schema)
	schema["description"] = doc
	return schema
}

// schemaOf returns the schema of one resource.
func schemaOf(k Kind) map[string]any {
	properties := map[string]any{}
	for _, s := range kindSettings[k] {
		switch {
		case s.name == permission:
		case s.form == entries:
			properties[s.name] = mapOf(s.shape.schema, s.doc)
		case s.form == whole:
			properties[s.name] = map[string]any{
				"type": []string{"array", "string"}, "items": s.shape.schema, "description": s.doc,
			}
		default:
			one := described(s.shape.schema, s.doc)
			if s.most > 0 { // it applies to numbers: the program checks durations with letters
				one["minimum"], one["maximum"] = s.least, s.most
			}
			properties[s.name] = one
		}
	}
	out := map[string]any{"type": []string{"object", "null"}, "additionalProperties": false, "properties": properties}
	text := func(doc string) map[string]any { return map[string]any{"type": "string", "description": doc} }
	switch k {
	case QueueKind:
		properties["fifo"] = described(boolShape.schema, "whether the queue is FIFO, which its name has to say, too")
	case TopicKind:
		properties["fifo"] = described(boolShape.schema, "whether the topic is FIFO, which its name has to say, too")
		one := map[string]any{"$ref": "#/$defs/" + string(SubscriptionKind)}
		properties["subscriptions"] = map[string]any{
			"oneOf":       []any{one, map[string]any{"type": "array", "items": one}},
			"description": "who gets the messages of the topic",
		}
	case AlarmKind:
		properties["queue"] = text("the queue whose metric it is")
		properties["topic"] = text("the topic whose metric it is")
	case SubscriptionKind:
		for name, doc := range map[string]string{
			"queue": "the queue that gets the messages", "url": "the URL that gets them",
			"email":      "the address that gets them",
			"email-json": "the address that gets them as JSON", "protocol": "any protocol of SNS",
			"endpoint": "an endpoint of it",
		} {
			properties[name] = text(doc)
		}
		properties[permission] = described(
			boolShape.schema,
			"whether the policies of queues of this file let the topic send: true if nothing is said",
		)
		return map[string]any{
			"oneOf": []any{
				map[string]any{"type": "string", "description": "a queue, a URL or an e-mail address"},
				map[string]any{"type": "object", "additionalProperties": false, "properties": properties},
			},
		}
	}
	return out
}

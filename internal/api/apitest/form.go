package apitest

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// collection describes the Query form of a list or map of the JSON protocol.
type collection struct {
	json, query string
	key, value  string // of a map
}

var requestCollections = []collection{
	{"Attributes", "Attribute", "Name", "Value"},
	{"MessageAttributes", "MessageAttribute", "Name", "Value"},
	{"MessageSystemAttributes", "MessageSystemAttribute", "Name", "Value"},
	{"tags", "Tag", "Key", "Value"},
	{"Tags", "Tag", "Key", "Value"},
	{"AttributeNames", "AttributeName", "", ""},
	{"MessageSystemAttributeNames", "MessageSystemAttributeName", "", ""},
	{"MessageAttributeNames", "MessageAttributeName", "", ""},
	{"TagKeys", "TagKey", "", ""},
	{"AWSAccountIds", "AWSAccountId", "", ""},
	{"Actions", "ActionName", "", ""},
	{"StringListValues", "StringListValue", "", ""},
	{"BinaryListValues", "BinaryListValue", "", ""},
	{"Entries", "%sRequestEntry", "", ""},
}

// addForm adds the members of in to form, each under prefix.
func addForm(form url.Values, op, prefix string, in Object) {
	for name, v := range in {
		i := slices.IndexFunc(requestCollections, func(c collection) bool { return c.json == name })
		if i < 0 {
			addValue(form, op, prefix+name, v)
			continue
		}
		c := requestCollections[i]
		base := prefix + strings.Replace(c.query, "%s", op, 1)
		n := 0
		switch v := v.(type) {
		case List:
			for _, e := range v {
				n++
				addValue(form, op, base+"."+strconv.Itoa(n), e)
			}
		case Object:
			for key, e := range v {
				n++
				form.Set(fmt.Sprintf("%s.%d.%s", base, n, c.key), key)
				addValue(form, op, fmt.Sprintf("%s.%d.%s", base, n, c.value), e)
			}
		}
		if n == 0 {
			form.Set(base, "")
		}
	}
}

func addValue(form url.Values, op, name string, v any) {
	if members, ok := v.(Object); ok {
		addForm(form, op, name+".", members)
		return
	}
	form.Set(name, fmt.Sprint(v))
}

// responseCollections is the way back. Names that only some operations use for
// collections have the operation before a dot.
var responseCollections = []collection{
	{"Attributes", "Attribute", "Name", "Value"},
	{"MessageAttributes", "MessageAttribute", "Name", "Value"},
	{"Tags", "Tag", "Key", "Value"},
	{"Messages", "Message", "", ""},
	{"QueueUrls", "ListQueues.QueueUrl", "", ""},
	{"queueUrls", "ListDeadLetterSourceQueues.QueueUrl", "", ""},
	{"Successful", "SendMessageBatchResultEntry", "", ""},
	{"Successful", "DeleteMessageBatchResultEntry", "", ""},
	{"Successful", "ChangeMessageVisibilityBatchResultEntry", "", ""},
	{"Failed", "BatchResultErrorEntry", "", ""},
	{"Results", "ListMessageMoveTasksResultEntry", "", ""},
}

// fromXML translates the children of n into their JSON form.
func fromXML(op string, n *element) Object {
	out := Object{}
	for i := range n.Children {
		child := &n.Children[i]
		name := child.XMLName.Local
		// A Message with children is a received message, not a text.
		j := slices.IndexFunc(responseCollections, func(c collection) bool {
			return c.query == op+"."+name || c.query == name && len(child.Children) > 0
		})
		var v any = child.Text
		if len(child.Children) > 0 {
			v = fromXML(op, child)
		}
		if j < 0 {
			out[name] = v
			continue
		}
		c := responseCollections[j]
		if c.key == "" {
			all, _ := out[c.json].(List)
			out[c.json] = append(all, v)
			continue
		}
		entries, _ := out[c.json].(Object)
		if entries == nil {
			entries = Object{}
			out[c.json] = entries
		}
		entry := v.(Object)
		entries[entry[c.key].(string)] = entry[c.value]
	}
	return out
}

// asText turns the scalars in v into what XML would have for them.
func asText(v any) any {
	switch v := v.(type) {
	case Object:
		out := make(Object, len(v))
		for k, e := range v {
			out[k] = asText(e)
		}
		return out
	case List:
		out := make(List, len(v))
		for i, e := range v {
			out[i] = asText(e)
		}
		return out
	}
	return fmt.Sprint(v)
}

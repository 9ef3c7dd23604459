package command

import (
	"context"
	"encoding/xml"
	"strings"
)

// names calls an operation of IAM that lists something, and returns the texts of
// the elements at path in its result.
func (c *client) names(ctx context.Context, action, path string, params ...string) ([]string, error) {
	names := []string{}
	for marker := []string(nil); ; {
		var body xmlText
		if err := c.iam(ctx, action, &body, append(marker, params...)...); err != nil {
			return nil, err
		}
		names = append(names, body.texts(action+"Result>"+path)...)
		next := body.texts(action + "Result>Marker")
		if len(next) == 0 {
			return names, nil
		}
		marker = []string{"Marker", next[0]}
	}
}

// xmlText is any XML element.
type xmlText struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []xmlText `xml:",any"`
}

// texts returns what stands in the elements at a path of names.
func (x *xmlText) texts(path string) []string {
	name, rest, deeper := strings.Cut(path, ">")
	var out []string
	for i := range x.Children {
		switch c := &x.Children[i]; {
		case c.XMLName.Local != name:
		case deeper:
			out = append(out, c.texts(rest)...)
		default:
			out = append(out, c.Text)
		}
	}
	return out
}

package insightrule

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Rule is a rule. It is immutable.
type Rule struct {
	Key
	Definition  string // JSON
	Enabled     bool
	Transformed bool              `json:",omitempty"` // of events after their transformation
	Tags        map[string]string `json:",omitempty"`
}

// Key identifies a rule.
type Key struct {
	series.Scope
	Name string
}

func (k Key) compare(o Key) int {
	return cmp.Or(k.Scope.Compare(o.Scope), strings.Compare(k.Name, o.Name))
}

// ARN returns the Amazon Resource Name of a rule, whether or not it exists.
func (k Key) ARN() string {
	return "arn:aws:cloudwatch:" + k.Region + ":" + k.Account + ":insight-rule/" + k.Name
}

func (k Key) text() string { return k.Account + "/" + k.Region + "/" + url.PathEscape(k.Name) }

func parseKey(text string) (k Key, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return k, control.ErrUnknown
	}
	k.Scope = series.Scope{Account: parts[0], Region: parts[1]}
	k.Name, err = url.PathUnescape(parts[2])
	return k, err
}

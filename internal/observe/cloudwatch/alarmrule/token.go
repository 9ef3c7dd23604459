package alarmrule

import (
	"unicode"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

// language has the tokens of rules: words, quoted names, and three signs.
var language = syntax.Language{
	Space:   unicode.IsSpace,
	Marks:   `"`,
	Escapes: true,
	Signs:   []string{"(", ")", ","},
	Word:    func(rune) bool { return true },
}

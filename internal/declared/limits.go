package declared

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/tool/bytesize"
)

// ErrNotSluice reports that an API has none of Sluice's own operations.
var ErrNotSluice = errors.New("accounts and users have limits on Sluice only")

// limits implements the limits of accounts and users, by ACCOUNT or ACCOUNT/USER. They belong to the account of the
// operator, who sets them, and have no tags: no prune removes them.
type limits struct {
	api  API
	home Scope
}

// limitsOf is the answer of an operation about an account or user.
type limitsOf struct {
	AccountId string
	UserName  string
	Limits    map[string]int64
}

// limitsInput names an account or user.
func limitsInput(r Ref) map[string]any {
	account, user, isUser := strings.Cut(r.Name, "/")
	in := map[string]any{"AccountId": account}
	if isUser {
		in["UserName"] = user
	}
	return in
}

func (l limits) read(ctx context.Context, r Ref) (*Actual, error) {
	var found limitsOf
	err := l.api.Sluice(ctx, "GetLimits", limitsInput(r), &found)
	switch {
	case isRefusal(err, "NoSuchAccountException", "NoSuchUserException"):
		return nil, nil // its limits may exist before it does
	case err != nil:
		return nil, err
	case len(found.Limits) == 0:
		return nil, nil
	}
	is := &Actual{Ref: r, Settings: make(Settings)}
	for name, n := range found.Limits {
		if s := byAttribute(LimitKind, name); s != nil {
			is.Settings[s.name] = strconv.FormatInt(n, 10)
		}
	}
	return is, nil
}

func (l limits) create(ctx context.Context, r Ref, settings Settings, _ string) error {
	return l.set(ctx, r, settings)
}

func (l limits) update(ctx context.Context, is *Actual, changes []Change) error {
	return l.set(ctx, is.Ref, changed(changes))
}

// set sets limits, and removes the empty ones.
func (l limits) set(ctx context.Context, r Ref, settings Settings) error {
	set, gone := make(map[string]int64), []string(nil)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		attribute := settingOf(LimitKind, name).attribute
		if n, err := strconv.ParseInt(settings[name], 10, 64); err == nil {
			set[attribute] = n
		} else {
			gone = append(gone, attribute)
		}
	}
	if len(set) > 0 {
		in := limitsInput(r)
		in["Limits"] = set
		if err := l.api.Sluice(ctx, "SetLimits", in, nil); err != nil {
			return err
		}
	}
	if len(gone) > 0 {
		in := limitsInput(r)
		in["Names"] = gone
		return l.api.Sluice(ctx, "DeleteLimits", in, nil)
	}
	return nil
}

func (l limits) remove(ctx context.Context, is *Actual) error {
	return l.api.Sluice(ctx, "DeleteLimits", limitsInput(is.Ref), nil)
}

// list returns nothing if the caller may not see limits, or if there are none.
func (l limits) list(ctx context.Context, s Scope) (refs []Ref, err error) {
	if s.Account != l.home.Account {
		return nil, nil
	}
	in := make(map[string]any)
	for {
		var page struct {
			Limits    []limitsOf
			NextToken string
		}
		err := l.api.Sluice(ctx, "ListLimits", in, &page)
		switch {
		case errors.Is(err, ErrNotSluice) || isRefusal(err, "AccessDeniedException", "UnknownOperationException"):
			return nil, nil
		case err != nil:
			return nil, err
		}
		for _, one := range page.Limits {
			name := one.AccountId
			if one.UserName != "" {
				name += "/" + one.UserName
			}
			refs = append(refs, newRef(s, LimitKind, name))
		}
		if page.NextToken == "" {
			return refs, nil
		}
		in["NextToken"] = page.NextToken
	}
}

// checkLimit refuses limits where the operator's keys are not used, and those of users that only accounts have.
func (f *fileReader) checkLimit(r *Resource, at *yaml.Node) {
	if r.Account != f.file.Home.Account {
		f.fail(at, "limits are set with the keys of the operator: they stand outside of accounts")
	}
	if !strings.Contains(r.Name, "/") {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		if strings.HasPrefix(settingOf(LimitKind, name).doc, ofAccountsOnly) {
			f.fail(at, "limit %s: users have no limit of %s: only accounts do", shorten(r.Name), name)
		}
	}
}

// ofAccountsOnly begins the message about limits that users cannot have.
const ofAccountsOnly = "accounts: "

// limitShape is a whole number, or none.
var limitShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := f.text(n, "a whole number, or none")
		if !ok || text == none {
			return "", ok
		}
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil || number < 0 || number > maxLimit {
			f.fail(f.value(n), "%s: want a whole number from 0 to %d, or none", shorten(text), int64(maxLimit))
			return "", false
		}
		return strconv.FormatInt(number, 10), true
	},
	show:   func(_ Scope, value string) any { return plain(value) },
	schema: map[string]any{"type": []string{"integer", "string"}, "pattern": `^none$|^[0-9]+$`},
}

// maxLimit is the maximum of any limit.
const maxLimit = 1 << 50

// limitUnits are the units of stored bytes.
var limitUnits = units{bytesize.TiB, bytesize.GiB, bytesize.MiB, bytesize.KiB}

// limitBytesShape is a number of bytes, or none.
var limitBytesShape = shape{
	parse: func(f *fileReader, n *yaml.Node) (string, bool) {
		text, ok := f.text(n, "a number of bytes, such as 20GiB, or none")
		if !ok || text == none {
			return "", ok
		}
		number, ok := limitUnits.parse(text)
		if !ok || number > maxLimit {
			f.fail(f.value(n), "%s: want a number of bytes, such as 512MiB or 20GiB, at most 1024TiB, or none", shorten(text))
			return "", false
		}
		return strconv.FormatInt(number, 10), true
	},
	show:   limitUnits.show,
	schema: map[string]any{"type": []string{"integer", "string"}, "pattern": `^none$|^[0-9]+ ?(KiB|MiB|GiB|TiB)?$`},
}

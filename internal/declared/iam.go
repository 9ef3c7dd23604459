package declared

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// noEntity is IAM's code for a missing entity.
const noEntity = "NoSuchEntity"

// iamPages calls a list operation of IAM for all pages.
func iamPages[T any](
	ctx context.Context, api API, action string, params []string, add func(page *T) (marker string),
) error {
	for marker := []string(nil); ; {
		page := new(T)
		if err := api.IAM(ctx, action, page, slices.Concat(params, marker)...); err != nil {
			return err
		}
		next := add(page)
		if next == "" {
			return nil
		}
		marker = []string{"Marker", next}
	}
}

// ofService reports whether AWS itself created the entity with this path, for one of its services.
func ofService(path string) bool { return strings.HasPrefix(path, "/aws-service-role/") }

// policies are the managed policies of an account.
type policies struct{ api API }

type policyPage struct {
	Policies []struct{ PolicyName, Arn string } `xml:"ListPoliciesResult>Policies>member"`
	Marker   string                             `xml:"ListPoliciesResult>Marker"`
}

// each calls f with the names and ARNs of all policies of the account.
func (p policies) each(ctx context.Context, f func(name, arn string)) error {
	return iamPages(ctx, p.api, "ListPolicies", []string{"Scope", "Local"}, func(page *policyPage) string {
		for _, one := range page.Policies {
			f(one.PolicyName, one.Arn)
		}
		return page.Marker
	})
}

func (p policies) read(ctx context.Context, r Ref) (*Actual, error) {
	is := &Actual{Ref: r, Settings: make(Settings)}
	if err := p.each(ctx, func(name, arn string) {
		if name == r.Name {
			is.arn = arn
		}
	}); err != nil || is.arn == "" {
		return nil, err
	}
	var found struct {
		Path        string `xml:"GetPolicyResult>Policy>Path"`
		Description string `xml:"GetPolicyResult>Policy>Description"`
		Version     string `xml:"GetPolicyResult>Policy>DefaultVersionId"`
		Tags        []tag  `xml:"GetPolicyResult>Policy>Tags>member"`
	}
	if err := p.api.IAM(ctx, "GetPolicy", &found, "PolicyArn", is.arn); err != nil {
		return nil, err
	}
	var version struct {
		Document string `xml:"GetPolicyVersionResult>PolicyVersion>Document"`
	}
	if err := p.api.IAM(
		ctx, "GetPolicyVersion", &version, "PolicyArn", is.arn, "VersionId", found.Version,
	); err != nil {
		return nil, err
	}
	return is, errors.Join(
		is.Settings.addDocument("document", version.Document),
		is.Settings.addEntity(found.Path, found.Description, found.Tags),
	)
}

// addDocument adds a policy as IAM answers it.
func (s Settings) addDocument(name, encoded string) error {
	text, err := url.PathUnescape(encoded)
	s[name] = text
	return err
}

func (s Settings) addEntity(path, description string, tags []tag) error {
	s["path"] = path
	if description != "" {
		s["description"] = description
	}
	for _, t := range tags {
		s[tagPrefix+t.Key] = t.Value
	}
	return nil
}

// entityParams returns the parameters for the creation of an entity.
func entityParams(kind Kind, name string, settings Settings, more map[string]string) []string {
	params := []string{title(kind) + "Name", name}
	for parameter, setting := range more {
		if value := settings[setting]; value != "" {
			params = append(params, parameter, value)
		}
	}
	return params
}

// title returns the name of a kind in the names of operations.
func title(k Kind) string { return strings.ToUpper(string(k[:1])) + string(k[1:]) }

func (p policies) create(ctx context.Context, r Ref, settings Settings, by string) error {
	params := entityParams(
		PolicyKind,
		r.Name,
		settings,
		map[string]string{"Path": "path", "Description": "description", "PolicyDocument": "document"},
	)
	return p.api.IAM(ctx, "CreatePolicy", nil, append(params, tagParams(settings.tagged(by))...)...)
}

type versionPage struct {
	Versions []struct {
		VersionId        string
		IsDefaultVersion bool
	} `xml:"ListPolicyVersionsResult>Versions>member"`
	Marker string `xml:"ListPolicyVersionsResult>Marker"`
}

// spare returns the versions of a policy that are not in force, the newest first.
func (p policies) spare(ctx context.Context, arn string) (ids []string, err error) {
	err = iamPages(ctx, p.api, "ListPolicyVersions", []string{"PolicyArn", arn}, func(page *versionPage) string {
		for _, v := range page.Versions {
			if !v.IsDefaultVersion {
				ids = append(ids, v.VersionId)
			}
		}
		return page.Marker
	})
	return ids, err
}

// maxVersions is the maximum number of versions of a policy.
const maxVersions = 5

func (p policies) update(ctx context.Context, is *Actual, changes []Change) error {
	settings := changed(changes)
	if document, now := settings["document"]; now {
		spare, err := p.spare(ctx, is.arn)
		if err != nil {
			return err
		}
		if len(spare) >= maxVersions-1 {
			if err := p.api.IAM(
				ctx, "DeletePolicyVersion", nil, "PolicyArn", is.arn, "VersionId", spare[len(spare)-1],
			); err != nil {
				return err
			}
		}
		err = p.api.IAM(ctx, "CreatePolicyVersion", nil,
			"PolicyArn", is.arn, "PolicyDocument", document, "SetAsDefault", "true")
		if err != nil {
			return err
		}
	}
	if tags := settings.under("tags"); len(tags) > 0 {
		return p.api.IAM(ctx, "TagPolicy", nil, append([]string{"PolicyArn", is.arn}, tagParams(tags)...)...)
	}
	return nil
}

type holderPage struct {
	Users  []string `xml:"ListEntitiesForPolicyResult>PolicyUsers>member>UserName"`
	Groups []string `xml:"ListEntitiesForPolicyResult>PolicyGroups>member>GroupName"`
	Roles  []string `xml:"ListEntitiesForPolicyResult>PolicyRoles>member>RoleName"`
	Marker string   `xml:"ListEntitiesForPolicyResult>Marker"`
}

// detach detaches a policy from everything that has it. Groups are never pruned, and would keep it forever.
func (p policies) detach(ctx context.Context, arn string) error {
	holders := make(map[Kind][]string)
	about := []string{"PolicyArn", arn, "PolicyUsageFilter", "PermissionsPolicy"}
	if err := iamPages(ctx, p.api, "ListEntitiesForPolicy", about, func(page *holderPage) string {
		holders[UserKind] = append(holders[UserKind], page.Users...)
		holders[GroupKind] = append(holders[GroupKind], page.Groups...)
		holders[RoleKind] = append(holders[RoleKind], page.Roles...)
		return page.Marker
	}); err != nil {
		return err
	}
	for kind, names := range holders {
		for _, name := range names {
			if err := p.api.IAM(
				ctx, "Detach"+title(kind)+"Policy", nil, title(kind)+"Name", name, "PolicyArn", arn,
			); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p policies) remove(ctx context.Context, is *Actual) error {
	if err := p.detach(ctx, is.arn); err != nil {
		return err
	}
	spare, err := p.spare(ctx, is.arn)
	if err != nil {
		return err
	}
	for _, id := range spare {
		if err := p.api.IAM(ctx, "DeletePolicyVersion", nil, "PolicyArn", is.arn, "VersionId", id); err != nil {
			return err
		}
	}
	return p.api.IAM(ctx, "DeletePolicy", nil, "PolicyArn", is.arn)
}

func (p policies) list(ctx context.Context, s Scope) (refs []Ref, err error) {
	err = p.each(ctx, func(name, _ string) { refs = append(refs, newRef(s, PolicyKind, name)) })
	return refs, err
}

// entities are the users, groups or roles of an account.
type entities struct {
	api     API
	session *Session
	kind    Kind
}

func (e entities) call(ctx context.Context, verb, what string, out any, name string, params ...string) error {
	return e.api.IAM(ctx, verb+title(e.kind)+what, out, append([]string{title(e.kind) + "Name", name}, params...)...)
}

// entityAnswer is the common part of the answers of GetUser, GetGroup and GetRole.
type entityAnswer struct {
	Path, Description, Arn string
	Trust                  string `xml:"AssumeRolePolicyDocument"`
	MaxSession             string `xml:"MaxSessionDuration"`
	Boundary               string `xml:"PermissionsBoundary>PermissionsBoundaryArn"`
	Tags                   []tag  `xml:"Tags>member"`
}

func (e entities) read(ctx context.Context, r Ref) (*Actual, error) {
	var found struct {
		User  entityAnswer `xml:"GetUserResult>User"`
		Group entityAnswer `xml:"GetGroupResult>Group"`
		Role  entityAnswer `xml:"GetRoleResult>Role"`
	}
	err := e.call(ctx, "Get", "", &found, r.Name)
	if isRefusal(err, noEntity) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	it := map[Kind]entityAnswer{UserKind: found.User, GroupKind: found.Group, RoleKind: found.Role}[e.kind]
	is := &Actual{Ref: r, arn: it.Arn, Settings: make(Settings)}
	err = is.Settings.addEntity(it.Path, it.Description, it.Tags)
	if e.kind == RoleKind {
		err = errors.Join(err, is.Settings.addDocument("trust", it.Trust))
		is.Settings["max-session"] = it.MaxSession
	}
	if it.Boundary != "" {
		is.Settings["boundary"] = it.Boundary
	}
	if err = errors.Join(err, e.readAttached(ctx, is), e.readInline(ctx, is)); err == nil && e.kind == UserKind {
		err = errors.Join(e.readGroups(ctx, is), e.readKeys(ctx, is))
	}
	return is, err
}

// namePage is a page of names of an entity's belongings. Their place differs in each answer.
type namePage struct {
	Lists []struct {
		Attached []string `xml:"AttachedPolicies>member>PolicyArn"`
		Inline   []string `xml:"PolicyNames>member"`
		Groups   []string `xml:"Groups>member>GroupName"`
		Keys     []string `xml:"AccessKeyMetadata>member>AccessKeyId"`
		Marker   string   `xml:"Marker"`
	} `xml:",any"`
}

// names returns the names of an entity's belongings.
func (e entities) names(ctx context.Context, action, name string) (names []string, err error) {
	err = iamPages(ctx, e.api, action, []string{title(e.kind) + "Name", name}, func(page *namePage) (marker string) {
		for _, l := range page.Lists {
			names = slices.Concat(names, l.Attached, l.Inline, l.Groups, l.Keys)
			marker += l.Marker
		}
		return marker
	})
	return names, err
}

func (e entities) readAttached(ctx context.Context, is *Actual) error {
	arns, err := e.names(ctx, "ListAttached"+title(e.kind)+"Policies", is.Name)
	for _, arn := range arns {
		is.Settings["policies."+arn] = ""
	}
	return err
}

func (e entities) readInline(ctx context.Context, is *Actual) error {
	names, err := e.names(ctx, "List"+title(e.kind)+"Policies", is.Name)
	for _, name := range names {
		var found struct {
			Results []struct {
				Document string `xml:"PolicyDocument"`
			} `xml:",any"`
		}
		if err := e.call(ctx, "Get", "Policy", &found, is.Name, "PolicyName", name); err != nil {
			return err
		}
		for _, one := range found.Results {
			if one.Document != "" {
				err = errors.Join(err, is.Settings.addDocument("inline."+name, one.Document))
			}
		}
	}
	return err
}

func (e entities) readGroups(ctx context.Context, is *Actual) error {
	groups, err := e.names(ctx, "ListGroupsForUser", is.Name)
	for _, g := range groups {
		is.Settings["groups."+g] = ""
	}
	return err
}

func (e entities) readKeys(ctx context.Context, is *Actual) error {
	keys, err := e.names(ctx, "ListAccessKeys", is.Name)
	if len(keys) > 0 {
		is.Settings[accessKey] = "true"
	}
	return err
}

func (e entities) create(ctx context.Context, r Ref, settings Settings, by string) error {
	known := map[string]string{"Path": "path"}
	made := []string{"path"}
	if e.kind != GroupKind {
		known["PermissionsBoundary"] = "boundary"
		made = append(made, "boundary", "tags")
	}
	if e.kind == RoleKind {
		known["AssumeRolePolicyDocument"] = "trust"
		known["Description"], known["MaxSessionDuration"] = "description", "max-session"
		made = append(made, "trust", "description", "max-session")
	}
	params := entityParams(e.kind, r.Name, settings, known)
	if e.kind != GroupKind {
		params = append(params, tagParams(settings.tagged(by))...)
	}
	if err := e.api.IAM(ctx, "Create"+title(e.kind), nil, params...); err != nil {
		return err
	}
	// Settings that cannot be set in the call that creates the entity. If this fails, the next apply sets them.
	var rest []Change
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if name, _, _ := strings.Cut(key, "."); !slices.Contains(made, name) {
			value := settings[key]
			rest = append(rest, Change{Setting: key, Is: &value})
		}
	}
	return e.update(ctx, &Actual{Ref: r, Settings: make(Settings)}, rest)
}

func (e entities) update(ctx context.Context, is *Actual, changes []Change) error {
	settings := changed(changes)
	if trust, now := settings["trust"]; now {
		if err := e.api.IAM(
			ctx, "UpdateAssumeRolePolicy", nil, "RoleName", is.Name, "PolicyDocument", trust,
		); err != nil {
			return err
		}
	}
	if err := e.updateRole(ctx, is, settings); err != nil {
		return err
	}
	if tags := settings.under("tags"); len(tags) > 0 {
		if err := e.call(ctx, "Tag", "", nil, is.Name, tagParams(tags)...); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if err := e.change(ctx, is.Ref, c); err != nil {
			return err
		}
	}
	return nil
}

// updateRole sets the description and the length of sessions in one call.
func (e entities) updateRole(ctx context.Context, is *Actual, settings Settings) error {
	var params []string
	for parameter, name := range map[string]string{"Description": "description", "MaxSessionDuration": "max-session"} {
		value, now := settings[name]
		if !now {
			value = is.Settings[name]
		}
		if value != "" || now {
			params = append(params, parameter, value)
		}
	}
	_, a := settings["description"]
	_, b := settings["max-session"]
	if !a && !b {
		return nil
	}
	return e.api.IAM(ctx, "UpdateRole", nil, append([]string{"RoleName", is.Name}, params...)...)
}

// change makes a change with its own call.
func (e entities) change(ctx context.Context, r Ref, c Change) error {
	name, entry, _ := strings.Cut(c.Setting, ".")
	value := ""
	if c.Is != nil {
		value = *c.Is
	}
	switch name {
	case "policies":
		if c.Is == nil {
			return e.call(ctx, "Detach", "Policy", nil, r.Name, "PolicyArn", entry)
		}
		return e.call(ctx, "Attach", "Policy", nil, r.Name, "PolicyArn", entry)
	case "inline":
		if value == "" {
			return e.call(ctx, "Delete", "Policy", nil, r.Name, "PolicyName", entry)
		}
		return e.call(ctx, "Put", "Policy", nil, r.Name, "PolicyName", entry, "PolicyDocument", value)
	case "groups":
		action := "AddUserToGroup"
		if c.Is == nil {
			action = "RemoveUserFromGroup"
		}
		return e.api.IAM(ctx, action, nil, "GroupName", entry, "UserName", r.Name)
	case "boundary":
		if value == "" {
			return e.call(ctx, "Delete", "PermissionsBoundary", nil, r.Name)
		}
		return e.call(ctx, "Put", "PermissionsBoundary", nil, r.Name, "PermissionsBoundary", value)
	case accessKey:
		return e.makeKey(ctx, r)
	}
	return nil
}

// makeKey creates an access key. If the key cannot be handed over, makeKey deletes it and shows it to no one.
func (e entities) makeKey(ctx context.Context, r Ref) error {
	var made struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	if err := e.api.IAM(ctx, "CreateAccessKey", &made, "UserName", r.Name); err != nil {
		return err
	}
	err := e.session.Made(
		Key{
			Account:         r.Account,
			Elsewhere:       r.Account != e.session.home.Account,
			UserName:        r.Name,
			AccessKeyId:     made.ID,
			SecretAccessKey: made.Secret,
		},
	)
	if err == nil {
		return nil
	}
	undo := e.api.IAM(context.WithoutCancel(ctx), "DeleteAccessKey", nil, "UserName", r.Name, "AccessKeyId", made.ID)
	if undo != nil {
		undo = fmt.Errorf("the key %s stays: %w", made.ID, undo)
	}
	return errors.Join(fmt.Errorf("its access key could not be handed on: %w", err), undo)
}

// remove deletes an entity after its belongings.
func (e entities) remove(ctx context.Context, is *Actual) error {
	now, err := e.read(ctx, is.Ref)
	if err != nil || now == nil {
		return err
	}
	for _, list := range []string{"policies", "inline", "groups"} {
		for _, entry := range slices.Sorted(maps.Keys(now.Settings.under(list))) {
			if err := e.change(ctx, is.Ref, Change{Setting: list + "." + entry}); err != nil {
				return err
			}
		}
	}
	if e.kind == UserKind {
		keys, err := e.names(ctx, "ListAccessKeys", is.Name)
		if err != nil {
			return err
		}
		for _, id := range keys {
			if err := e.api.IAM(ctx, "DeleteAccessKey", nil, "UserName", is.Name, "AccessKeyId", id); err != nil {
				return err
			}
		}
	}
	return e.call(ctx, "Delete", "", nil, is.Name)
}

type entityPage struct {
	Lists []struct {
		Users  []struct{ UserName, Path string }  `xml:"Users>member"`
		Groups []struct{ GroupName, Path string } `xml:"Groups>member"`
		Roles  []struct{ RoleName, Path string }  `xml:"Roles>member"`
		Marker string                             `xml:"Marker"`
	} `xml:",any"`
}

func (e entities) list(ctx context.Context, s Scope) (refs []Ref, err error) {
	add := func(name, path string) {
		if !ofService(path) {
			refs = append(refs, newRef(s, e.kind, name))
		}
	}
	err = iamPages(ctx, e.api, "List"+title(e.kind)+"s", nil, func(page *entityPage) (marker string) {
		for _, l := range page.Lists {
			for _, u := range l.Users {
				add(u.UserName, u.Path)
			}
			for _, g := range l.Groups {
				add(g.GroupName, g.Path)
			}
			for _, r := range l.Roles {
				add(r.RoleName, r.Path)
			}
			marker += l.Marker
		}
		return marker
	})
	return refs, err
}

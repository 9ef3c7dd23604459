package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newUser() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "user",
		Short: "Create and delete users, with their keys and policies",
		Long: `Create and delete users of a running server, with their keys and policies: shortcuts for
aws iam. The access key of the command decides the account and the rights.`,
	}
	server.add(cmd, "IAM")
	cmd.AddCommand(
		newUserCreate(server),
		newUserList(server),
		newUserShow(server),
		newUserKey(server),
		newUserPassword(server),
		newUserMFA(server),
		newUserAttach(server),
		newUserDetach(server),
		newUserSwitch(server, false),
		newUserSwitch(server, true),
		newUserDelete(server),
	)
	return cmd
}

// completeUsers completes the names of users for the first argument.
func completeUsers(server *clientFlags) cobra.CompletionFunc {
	return server.completeNames(func(ctx context.Context, c *client) ([]string, error) {
		return c.names(ctx, "ListUsers", "Users>member>UserName")
	})
}

func newUserCreate(server *clientFlags) *cobra.Command {
	var policies policyFlags
	var path string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a user with an access key, and print the key",
		Long: `Create a user with an access key, and print the key as lines for a shell. The secret is
printed only once. Without --policy or --managed the user may do nothing.`,
		Example: `  sluice user create worker --managed AmazonSQSFullAccess
  sluice user create billing --policy billing.json`,
		Args: arguments("NAME"),
	}
	policies.addFile(cmd)
	policies.addManaged(cmd)
	cmd.Flags().StringVar(&path, "path", "/", "path of the user")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if err := policies.read(c.warnings); err != nil {
			return nil, err
		}
		return answerOr(createUser(ctx, c.client, c.args[0], path, &policies))
	})
}

// createUser removes everything again if one of its steps is refused.
func createUser(ctx context.Context, c *client, name, path string, policies *policyFlags) (_ newKey, err error) {
	if err := c.iam(ctx, "CreateUser", nil, "UserName", name, "Path", path); err != nil {
		return newKey{}, err
	}
	defer func() {
		if err != nil {
			if undo := deleteUser(context.WithoutCancel(ctx), c, name); undo != nil {
				err = errors.Join(err, fmt.Errorf("the user %s is left incomplete: %w", name, undo))
			}
		}
	}()
	if err := policies.attach(ctx, c, name); err != nil {
		return newKey{}, err
	}
	return createKey(ctx, c, name)
}

func newUserList(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the users with their access keys, policies and groups",
		Example: `  sluice user list --json`,
		Args:    noArguments,
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		return answerOr(listUsers(ctx, c.client))
	})
}

// userList is the answer of user list.
type userList struct{ Users []*user }

// user is a user with its keys, policies and other belongings.
type user struct {
	UserName         string
	UserId           string
	Path             string
	Arn              string
	CreateDate       string
	AccessKeys       []accessKey
	Groups           []string
	AttachedPolicies []string // ARNs
	InlinePolicies   []string // names
	Boundary         string   `xml:"PermissionsBoundary>PermissionsBoundaryArn" json:",omitempty"`
}

func listUsers(ctx context.Context, c *client) (*userList, error) {
	list := &userList{Users: []*user{}}
	for marker := []string(nil); ; {
		var page struct {
			Users  []*user `xml:"ListUsersResult>Users>member"`
			Marker string  `xml:"ListUsersResult>Marker"`
		}
		if err := c.iam(ctx, "ListUsers", &page, marker...); err != nil {
			return nil, err
		}
		for _, u := range page.Users {
			if err := u.load(ctx, c); err != nil {
				return nil, err
			}
		}
		list.Users = append(list.Users, page.Users...)
		if page.Marker == "" {
			return list, nil
		}
		marker = []string{"Marker", page.Marker}
	}
}

// load fetches the belongings of a user.
func (u *user) load(ctx context.Context, c *client) (err error) {
	if u.AccessKeys, err = keysOf(ctx, c, u.UserName); err != nil {
		return err
	}
	for _, what := range belongings {
		if *what.of(u), err = c.names(ctx, what.list, what.path, "UserName", u.UserName); err != nil {
			return err
		}
	}
	return nil
}

// belongings describes each kind of belonging except keys: how it is listed and deleted.
var belongings = []struct {
	of                            func(*user) *[]string
	list, path, remove, parameter string
}{
	{
		func(u *user) *[]string { return &u.InlinePolicies },
		"ListUserPolicies",
		"PolicyNames>member",
		"DeleteUserPolicy",
		"PolicyName",
	},
	{
		func(u *user) *[]string { return &u.AttachedPolicies },
		"ListAttachedUserPolicies",
		"AttachedPolicies>member>PolicyArn",
		"DetachUserPolicy",
		"PolicyArn",
	},
	{
		func(u *user) *[]string { return &u.Groups },
		"ListGroupsForUser",
		"Groups>member>GroupName",
		"RemoveUserFromGroup",
		"GroupName",
	},
}

func (l *userList) text(w io.Writer) error {
	var rows [][]string
	for _, u := range l.Users {
		var keys []string
		for _, k := range u.AccessKeys {
			keys = append(keys, k.AccessKeyId+" ("+strings.ToLower(k.Status)+")")
		}
		rows = append(rows, []string{
			strings.TrimPrefix(u.Path, "/") + u.UserName, u.UserId, u.CreateDate, strings.Join(keys, ", "),
			strings.Join(u.policies(), ", "), strings.Join(u.Groups, ", "),
		})
	}
	return printTable(w, []string{"USER", "ID", "CREATED", "ACCESS KEYS", "POLICIES", "GROUPS"}, rows)
}

// policies are the names of a user's inline policies.
func (u *user) policies() []string {
	var names []string
	for _, arn := range u.AttachedPolicies {
		names = append(names, arn[strings.LastIndexByte(arn, '/')+1:])
	}
	return append(names, u.InlinePolicies...)
}

func newUserShow(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a user: its keys and when they were used, its policies and groups",
		Example: `  sluice user show worker
  sluice user show worker --json`,
		Args:              arguments("NAME"),
		ValidArgsFunction: completeUsers(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		return answerOr(showUser(ctx, c.client, c.args[0]))
	})
}

// shownUser is the answer of user show.
type shownUser struct {
	*user
	LastUsed  map[string]lastUse // by access key
	Documents map[string]string  // the user's inline policies
}

// lastUse is when a key was used last.
type lastUse struct {
	Date    string `xml:"LastUsedDate"`
	Service string `xml:"ServiceName"`
	Region  string
}

// getUser returns a user with everything that belongs to it.
func getUser(ctx context.Context, c *client, name string) (*user, error) {
	var found struct {
		User *user `xml:"GetUserResult>User"`
	}
	if err := c.iam(ctx, "GetUser", &found, "UserName", name); err != nil {
		return nil, err
	}
	if found.User == nil {
		return nil, errors.New("GetUser: the answer has no user")
	}
	return found.User, found.User.load(ctx, c)
}

func showUser(ctx context.Context, c *client, name string) (*shownUser, error) {
	u, err := getUser(ctx, c, name)
	if err != nil {
		return nil, err
	}
	shown := &shownUser{user: u, LastUsed: make(map[string]lastUse), Documents: make(map[string]string)}
	for _, k := range u.AccessKeys {
		var used struct {
			Last lastUse `xml:"GetAccessKeyLastUsedResult>AccessKeyLastUsed"`
		}
		if err := c.iam(ctx, "GetAccessKeyLastUsed", &used, "AccessKeyId", k.AccessKeyId); err != nil {
			return nil, err
		}
		if used.Last.Date != "" {
			shown.LastUsed[k.AccessKeyId] = used.Last
		}
	}
	for _, policy := range u.InlinePolicies {
		if shown.Documents[policy], err = inlinePolicy(ctx, c, "User", name, policy); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

func (s *shownUser) text(w io.Writer) error {
	fmt.Fprintf(w, "%s\nid %s, created %s\n", s.Arn, s.UserId, s.CreateDate)
	if len(s.AccessKeys) == 0 {
		fmt.Fprintln(w, "no access key: no request can be signed as this user")
	}
	for _, k := range s.AccessKeys {
		last := "not used yet"
		if used, ok := s.LastUsed[k.AccessKeyId]; ok {
			last = fmt.Sprintf("last used %s for %s in %s", used.Date, used.Service, used.Region)
		}
		fmt.Fprintf(w, "key %s, %s, created %s, %s\n", k.AccessKeyId, strings.ToLower(k.Status), k.CreateDate, last)
	}
	for _, g := range s.Groups {
		fmt.Fprintln(w, "in the group", g)
	}
	for _, arn := range s.AttachedPolicies {
		fmt.Fprintln(w, "attached policy", arn)
	}
	if s.Boundary != "" {
		fmt.Fprintln(w, "at most what the boundary", s.Boundary, "allows")
	}
	for _, name := range s.InlinePolicies {
		fmt.Fprintf(w, "policy %s:\n%s\n", name, strings.TrimSpace(s.Documents[name]))
	}
	if len(s.Groups)+len(s.AttachedPolicies)+len(s.InlinePolicies) == 0 {
		fmt.Fprintln(w, "no policy and no group: it has only the permissions that queues' policies grant")
	}
	return nil
}

func newUserDelete(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "delete NAME",
		Short:             "Delete a user with its access keys, policies and memberships",
		Example:           `  sluice user delete worker`,
		Args:              arguments("NAME"),
		ValidArgsFunction: completeUsers(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if err := deleteUser(ctx, c.client, c.args[0]); err != nil {
			return nil, err
		}
		return done{"user " + c.args[0] + " is deleted"}, nil
	})
}

// deleteUser deletes a user with its belongings. It deletes the keys first, so that they no longer work even if a later
// step fails.
func deleteUser(ctx context.Context, c *client, name string) error {
	keys, err := keysOf(ctx, c, name)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := c.iam(ctx, "DeleteAccessKey", nil, "UserName", name, "AccessKeyId", k.AccessKeyId); err != nil {
			return err
		}
	}
	for _, what := range belongings {
		names, err := c.names(ctx, what.list, what.path, "UserName", name)
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := c.iam(ctx, what.remove, nil, "UserName", name, what.parameter, n); err != nil {
				return err
			}
		}
	}
	if c.iam(ctx, "GetLoginProfile", nil, "UserName", name) == nil {
		if err := c.iam(ctx, "DeleteLoginProfile", nil, "UserName", name); err != nil {
			return err
		}
	}
	if err := removeDevices(ctx, c, name); err != nil {
		return err
	}
	return c.iam(ctx, "DeleteUser", nil, "UserName", name)
}

package iam_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// state is what Terraform knows of a resource: attributes by name.
type state = map[string]string

// resource is a resource as Terraform's AWS provider handles it: its calls, in its order.
type resource struct {
	kind string
	// want is the configuration, before and after a change.
	want   [2]state
	create func(p *provider, want state) error
	// read returns the current state from the resource's id alone, as an import does. It returns nil if there is no
	// such resource.
	read   func(p *provider) (state, error)
	update func(p *provider, have, want state) error
	delete func(p *provider) error
}

// provider makes calls of IAM, each of which must succeed unless noted.
type provider struct {
	*iam.Client
	t *testing.T
}

// ok checks that a step succeeded.
func ok(_ any, err error) error { return err }

// gone turns the error for a missing resource into none.
func gone(err error) (bool, error) {
	if apitest.Code(err) == "NoSuchEntity" {
		return true, nil
	}
	return false, err
}

func tagsOf(s state) (tags []types.Tag) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if key, isTag := strings.CutPrefix(name, "tags."); isTag {
			tags = append(tags, types.Tag{Key: aws.String(key), Value: aws.String(s[name])})
		}
	}
	return tags
}

func addTagsTo(s state, tags []types.Tag) state {
	for _, t := range tags {
		s["tags."+*t.Key] = *t.Value
	}
	return s
}

// tagChanges returns the keys to remove and the tags to set.
func tagChanges(have, want state) (removed []string, set []types.Tag) {
	for name := range have {
		if key, isTag := strings.CutPrefix(name, "tags."); isTag && want[name] != have[name] {
			removed = append(removed, key)
		}
	}
	for _, t := range tagsOf(want) {
		if have["tags."+*t.Key] != *t.Value {
			set = append(set, t)
		}
	}
	return removed, set
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func decoded(t *testing.T, document *string) string {
	text, err := url.QueryUnescape(*document)
	return apitest.Must(t, text, err)
}

func boundaryOf(b *types.AttachedPermissionsBoundary) string {
	if b == nil {
		return ""
	}
	return *b.PermissionsBoundaryArn
}

const fullAccess = "arn:aws:iam::aws:policy/AmazonSQSFullAccess"

var userResource = resource{
	kind: "aws_iam_user",
	want: [2]state{
		{"name": "app", "path": "/", "permissions_boundary": "", "tags.team": "a", "tags.cost": "1"},
		{"name": "app", "path": "/services/", "permissions_boundary": fullAccess, "tags.team": "b", "tags.env": "prod"},
	},
	create: func(p *provider, want state) error {
		return ok(p.CreateUser(p.t.Context(), &iam.CreateUserInput{
			UserName: aws.String(want["name"]), Path: aws.String(want["path"]),
			PermissionsBoundary: optional(want["permissions_boundary"]), Tags: tagsOf(want)}))
	},
	read: func(p *provider) (state, error) {
		out, err := p.GetUser(p.t.Context(), &iam.GetUserInput{UserName: aws.String("app")})
		if none, err := gone(err); none || err != nil {
			return nil, err
		}
		tags, err := p.ListUserTags(p.t.Context(), &iam.ListUserTagsInput{UserName: aws.String("app")})
		if err != nil {
			return nil, err
		}
		if fmt.Sprint(addTagsTo(state{}, tags.Tags)) != fmt.Sprint(addTagsTo(state{}, out.User.Tags)) {
			p.t.Errorf("GetUser and ListUserTags have different tags")
		}
		return addTagsTo(state{
			"name": *out.User.UserName, "path": *out.User.Path,
			"permissions_boundary": boundaryOf(out.User.PermissionsBoundary),
		}, out.User.Tags), nil
	},
	update: func(p *provider, have, want state) error {
		name := aws.String("app")
		if err := ok(p.UpdateUser(p.t.Context(), &iam.UpdateUserInput{
			UserName: name, NewUserName: name, NewPath: aws.String(want["path"]),
		})); err != nil {
			return err
		}
		if err := ok(p.PutUserPermissionsBoundary(p.t.Context(), &iam.PutUserPermissionsBoundaryInput{
			UserName: name, PermissionsBoundary: aws.String(want["permissions_boundary"]),
		})); err != nil {
			return err
		}
		removed, set := tagChanges(have, want)
		if err := ok(p.UntagUser(p.t.Context(), &iam.UntagUserInput{UserName: name, TagKeys: removed})); err != nil {
			return err
		}
		return ok(p.TagUser(p.t.Context(), &iam.TagUserInput{UserName: name, Tags: set}))
	},
	delete: func(p *provider) error { // with force_destroy
		ctx, name := p.t.Context(), aws.String("app")
		groups, err := p.ListGroupsForUser(ctx, &iam.ListGroupsForUserInput{UserName: name})
		if apitest.Must(p.t, groups, err); len(groups.Groups) > 0 {
			p.t.Errorf("groups exist")
		}
		keys, err := p.ListAccessKeys(ctx, &iam.ListAccessKeysInput{UserName: name})
		for _, k := range apitest.Must(p.t, keys, err).AccessKeyMetadata {
			apitest.Must(p.t, 0,
				ok(p.DeleteAccessKey(ctx, &iam.DeleteAccessKeyInput{UserName: name, AccessKeyId: k.AccessKeyId})))
		}
		ssh, err := p.ListSSHPublicKeys(ctx, &iam.ListSSHPublicKeysInput{UserName: name})
		virtual, err2 := p.ListVirtualMFADevices(ctx, &iam.ListVirtualMFADevicesInput{
			AssignmentStatus: types.AssignmentStatusTypeAssigned,
		})
		devices, err3 := p.ListMFADevices(ctx, &iam.ListMFADevicesInput{UserName: name})
		certificates, err4 := p.ListSigningCertificates(ctx, &iam.ListSigningCertificatesInput{UserName: name})
		credentials, err5 := p.ListServiceSpecificCredentials(ctx, &iam.ListServiceSpecificCredentialsInput{
			UserName: name,
		})
		for _, err := range []error{err, err2, err3, err4, err5} {
			apitest.Must(p.t, 0, err)
		}
		if len(ssh.SSHPublicKeys)+len(virtual.VirtualMFADevices)+len(devices.MFADevices)+len(certificates.Certificates)+
			len(credentials.ServiceSpecificCredentials) > 0 ||
			ssh.IsTruncated || virtual.IsTruncated || devices.IsTruncated || certificates.IsTruncated {
			p.t.Errorf("the user has unsupported properties")
		}
		if code := apitest.Code(ok(p.GetLoginProfile(ctx, &iam.GetLoginProfileInput{
			UserName: name,
		}))); code != "NoSuchEntity" {
			p.t.Errorf("GetLoginProfile: %s", code)
		}
		if code := apitest.Code(ok(p.DeleteLoginProfile(ctx, &iam.DeleteLoginProfileInput{
			UserName: name,
		}))); code != "NoSuchEntity" {
			p.t.Errorf("DeleteLoginProfile: %s", code)
		}
		return ok(p.DeleteUser(ctx, &iam.DeleteUserInput{UserName: name}))
	},
}

var roleResource = resource{
	kind: "aws_iam_role",
	want: [2]state{
		{"name": "r", "path": "/", "description": "", "max_session_duration": "3600", "permissions_boundary": "",
			"assume_role_policy": apitest.Trusting(account), "tags.a": "1"},
		{"name": "r", "path": "/", "description": "for jobs", "max_session_duration": "7200",
			"permissions_boundary": fullAccess,
			"assume_role_policy":   apitest.Trusting(otherAccount), "tags.b": "2"},
	},
	create: func(p *provider, want state) error {
		return ok(p.CreateRole(p.t.Context(),
			&iam.CreateRoleInput{RoleName: aws.String("r"), Path: aws.String(want["path"]),
				AssumeRolePolicyDocument: aws.String(want["assume_role_policy"]),
				MaxSessionDuration:       aws.Int32(3600), Tags: tagsOf(want)}))
	},
	read: func(p *provider) (state, error) {
		ctx, name := p.t.Context(), aws.String("r")
		out, err := p.GetRole(ctx, &iam.GetRoleInput{RoleName: name})
		if none, err := gone(err); none || err != nil {
			return nil, err
		}
		inline, err := p.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: name})
		attached, err2 := p.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: name})
		tags, err3 := p.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: name})
		for _, err := range []error{err, err2, err3} {
			apitest.Must(p.t, 0, err)
		}
		if len(inline.PolicyNames)+len(attached.AttachedPolicies) > 0 || len(tags.Tags) != len(out.Role.Tags) {
			p.t.Errorf("a role with %v, %v, %v", inline.PolicyNames, attached.AttachedPolicies, tags.Tags)
		}
		return addTagsTo(state{
			"name": *out.Role.RoleName, "path": *out.Role.Path, "description": aws.ToString(out.Role.Description),
			"max_session_duration": fmt.Sprint(*out.Role.MaxSessionDuration),
			"permissions_boundary": boundaryOf(out.Role.PermissionsBoundary),
			"assume_role_policy":   decoded(p.t, out.Role.AssumeRolePolicyDocument),
		}, out.Role.Tags), nil
	},
	update: func(p *provider, have, want state) error {
		ctx, name := p.t.Context(), aws.String("r")
		removed, set := tagChanges(have, want)
		for _, err := range []error{
			ok(p.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{
				RoleName: name, PolicyDocument: aws.String(want["assume_role_policy"]),
			})),
			ok(p.UpdateRoleDescription(ctx, &iam.UpdateRoleDescriptionInput{
				RoleName: name, Description: aws.String(want["description"]),
			})),
			ok(p.UpdateRole(ctx, &iam.UpdateRoleInput{
				RoleName: name, Description: aws.String(want["description"]), MaxSessionDuration: aws.Int32(7200),
			})),
			ok(p.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{
				RoleName: name, PermissionsBoundary: aws.String(want["permissions_boundary"]),
			})),
			ok(p.UntagRole(ctx, &iam.UntagRoleInput{RoleName: name, TagKeys: removed})),
			ok(p.TagRole(ctx, &iam.TagRoleInput{RoleName: name, Tags: set})),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	},
	delete: func(p *provider) error {
		out, err := p.ListInstanceProfilesForRole(p.t.Context(), &iam.ListInstanceProfilesForRoleInput{
			RoleName: aws.String("r"),
		})
		if apitest.Must(p.t, out, err); len(out.InstanceProfiles) > 0 || out.IsTruncated {
			p.t.Errorf("the role has instance profiles")
		}
		return ok(p.DeleteRole(p.t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("r")}))
	},
}

var groupResource = resource{
	kind: "aws_iam_group",
	want: [2]state{{"path": "/"}, {"path": "/teams/"}},
	create: func(p *provider, want state) error {
		return ok(p.CreateGroup(p.t.Context(), &iam.CreateGroupInput{
			GroupName: aws.String("g"), Path: aws.String(want["path"]),
		}))
	},
	read: func(p *provider) (state, error) {
		out, err := p.GetGroup(p.t.Context(), &iam.GetGroupInput{GroupName: aws.String("g")})
		if none, err := gone(err); none || err != nil {
			return nil, err
		}
		return state{"path": *out.Group.Path}, nil
	},
	update: func(p *provider, _, want state) error {
		return ok(p.UpdateGroup(p.t.Context(), &iam.UpdateGroupInput{
			GroupName: aws.String("g"), NewGroupName: aws.String("g"), NewPath: aws.String(want["path"]),
		}))
	},
	delete: func(p *provider) error {
		return ok(p.DeleteGroup(p.t.Context(), &iam.DeleteGroupInput{GroupName: aws.String("g")}))
	},
}

var policyResource = resource{
	kind: "aws_iam_policy",
	want: [2]state{
		{"name": "p", "path": "/", "description": "sends", "policy": apitest.Allow("sqs:SendMessage", "*"),
			"tags.a": "1"},
		{"name": "p", "path": "/", "description": "sends", "policy": apitest.Allow("sqs:*", "*"), "tags.a": "2"},
	},
	create: func(p *provider, want state) error {
		return ok(p.CreatePolicy(p.t.Context(),
			&iam.CreatePolicyInput{PolicyName: aws.String(want["name"]), Path: aws.String(want["path"]),
				Description: aws.String(want["description"]), PolicyDocument: aws.String(want["policy"]),
				Tags: tagsOf(want)}))
	},
	read: func(p *provider) (state, error) {
		ctx, arn := p.t.Context(), aws.String("arn:aws:iam::"+account+":policy/p")
		out, err := p.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: arn})
		if none, err := gone(err); none || err != nil {
			return nil, err
		}
		version, err := p.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{
			PolicyArn: arn, VersionId: out.Policy.DefaultVersionId,
		})
		tags, err2 := p.ListPolicyTags(ctx, &iam.ListPolicyTagsInput{PolicyArn: arn})
		for _, err := range []error{err, err2} {
			apitest.Must(p.t, 0, err)
		}
		if len(tags.Tags) != len(out.Policy.Tags) {
			p.t.Errorf("GetPolicy and ListPolicyTags have different tags")
		}
		return addTagsTo(state{"name": *out.Policy.PolicyName, "path": *out.Policy.Path,
			"description": aws.ToString(out.Policy.Description),
			"policy":      decoded(p.t, version.PolicyVersion.Document)}, out.Policy.Tags), nil
	},
	update: func(p *provider, have, want state) error {
		ctx, arn := p.t.Context(), aws.String("arn:aws:iam::"+account+":policy/p")
		versions, err := p.ListPolicyVersions(ctx, &iam.ListPolicyVersionsInput{PolicyArn: arn})
		if apitest.Must(p.t, versions, err); len(versions.Versions) != 1 {
			p.t.Errorf("%d versions", len(versions.Versions))
		}
		if err := ok(p.CreatePolicyVersion(ctx, &iam.CreatePolicyVersionInput{
			PolicyArn: arn, PolicyDocument: aws.String(want["policy"]), SetAsDefault: true,
		})); err != nil {
			return err
		}
		removed, set := tagChanges(have, want)
		if err := ok(p.UntagPolicy(ctx, &iam.UntagPolicyInput{PolicyArn: arn, TagKeys: removed})); err != nil {
			return err
		}
		return ok(p.TagPolicy(ctx, &iam.TagPolicyInput{PolicyArn: arn, Tags: set}))
	},
	delete: func(p *provider) error {
		ctx, arn := p.t.Context(), aws.String("arn:aws:iam::"+account+":policy/p")
		versions, err := p.ListPolicyVersions(ctx, &iam.ListPolicyVersionsInput{PolicyArn: arn})
		for _, v := range apitest.Must(p.t, versions, err).Versions {
			if !v.IsDefaultVersion {
				apitest.Must(p.t, 0,
					ok(p.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{
						PolicyArn: arn, VersionId: v.VersionId,
					})))
			}
		}
		return ok(p.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: arn}))
	},
}

// attachment and inline policies need the user, group and role that they are for.

func attachmentResource(kind string, attach, detach func(*provider, *string) error,
	list func(*provider) ([]types.AttachedPolicy, error)) resource {
	return resource{
		kind:   kind,
		want:   [2]state{{"policy_arn": fullAccess}, {"policy_arn": fullAccess}},
		create: func(p *provider, want state) error { return attach(p, aws.String(want["policy_arn"])) },
		read: func(p *provider) (state, error) {
			attached, err := list(p)
			if len(attached) == 0 || err != nil {
				return nil, err
			}
			return state{"policy_arn": *attached[0].PolicyArn}, nil
		},
		update: func(*provider, state, state) error { return nil }, // a change creates a new one
		delete: func(p *provider) error { return detach(p, aws.String(fullAccess)) },
	}
}

func inlineResource(kind string, put func(p *provider, document *string) error, get func(*provider) (*string, error),
	remove func(*provider) error) resource {
	return resource{
		kind:   kind,
		want:   [2]state{{"policy": apitest.Allow("sqs:SendMessage", "*")}, {"policy": apitest.Allow("sqs:*", "*")}},
		create: func(p *provider, want state) error { return put(p, aws.String(want["policy"])) },
		read: func(p *provider) (state, error) {
			document, err := get(p)
			if none, err := gone(err); none || err != nil {
				return nil, err
			}
			return state{"policy": decoded(p.t, document)}, nil
		},
		update: func(p *provider, _, want state) error { return put(p, aws.String(want["policy"])) },
		delete: remove,
	}
}

// dependents are the resources that depend on others.
func dependents() []resource {
	user, group, role, name := aws.String("app"), aws.String("g"), aws.String("r"), aws.String("own")
	return []resource{
		attachmentResource("aws_iam_user_policy_attachment",
			func(p *provider, arn *string) error {
				return ok(p.AttachUserPolicy(p.t.Context(), &iam.AttachUserPolicyInput{UserName: user, PolicyArn: arn}))
			},
			func(p *provider, arn *string) error {
				return ok(p.DetachUserPolicy(p.t.Context(), &iam.DetachUserPolicyInput{UserName: user, PolicyArn: arn}))
			},
			func(p *provider) ([]types.AttachedPolicy, error) {
				out, err := p.ListAttachedUserPolicies(p.t.Context(), &iam.ListAttachedUserPoliciesInput{
					UserName: user,
				})
				return apitest.Must(p.t, out, err).AttachedPolicies, nil
			}),
		attachmentResource("aws_iam_group_policy_attachment",
			func(p *provider, arn *string) error {
				return ok(p.AttachGroupPolicy(p.t.Context(), &iam.AttachGroupPolicyInput{
					GroupName: group, PolicyArn: arn,
				}))
			},
			func(p *provider, arn *string) error {
				return ok(p.DetachGroupPolicy(p.t.Context(), &iam.DetachGroupPolicyInput{
					GroupName: group, PolicyArn: arn,
				}))
			},
			func(p *provider) ([]types.AttachedPolicy, error) {
				out, err := p.ListAttachedGroupPolicies(p.t.Context(), &iam.ListAttachedGroupPoliciesInput{
					GroupName: group,
				})
				return apitest.Must(p.t, out, err).AttachedPolicies, nil
			}),
		attachmentResource("aws_iam_role_policy_attachment",
			func(p *provider, arn *string) error {
				return ok(p.AttachRolePolicy(p.t.Context(), &iam.AttachRolePolicyInput{RoleName: role, PolicyArn: arn}))
			},
			func(p *provider, arn *string) error {
				return ok(p.DetachRolePolicy(p.t.Context(), &iam.DetachRolePolicyInput{RoleName: role, PolicyArn: arn}))
			},
			func(p *provider) ([]types.AttachedPolicy, error) {
				out, err := p.ListAttachedRolePolicies(p.t.Context(), &iam.ListAttachedRolePoliciesInput{
					RoleName: role,
				})
				return apitest.Must(p.t, out, err).AttachedPolicies, nil
			}),
		inlineResource("aws_iam_user_policy",
			func(p *provider, document *string) error {
				return ok(p.PutUserPolicy(p.t.Context(), &iam.PutUserPolicyInput{
					UserName: user, PolicyName: name, PolicyDocument: document,
				}))
			},
			func(p *provider) (*string, error) {
				out, err := p.GetUserPolicy(p.t.Context(), &iam.GetUserPolicyInput{UserName: user, PolicyName: name})
				if err != nil {
					return nil, err
				}
				return out.PolicyDocument, nil
			},
			func(p *provider) error {
				return ok(p.DeleteUserPolicy(p.t.Context(), &iam.DeleteUserPolicyInput{
					UserName: user, PolicyName: name,
				}))
			}),
		inlineResource("aws_iam_group_policy",
			func(p *provider, document *string) error {
				return ok(p.PutGroupPolicy(p.t.Context(), &iam.PutGroupPolicyInput{
					GroupName: group, PolicyName: name, PolicyDocument: document,
				}))
			},
			func(p *provider) (*string, error) {
				out, err := p.GetGroupPolicy(p.t.Context(), &iam.GetGroupPolicyInput{
					GroupName: group, PolicyName: name,
				})
				if err != nil {
					return nil, err
				}
				return out.PolicyDocument, nil
			},
			func(p *provider) error {
				return ok(p.DeleteGroupPolicy(p.t.Context(), &iam.DeleteGroupPolicyInput{
					GroupName: group, PolicyName: name,
				}))
			}),
		inlineResource("aws_iam_role_policy",
			func(p *provider, document *string) error {
				return ok(p.PutRolePolicy(p.t.Context(), &iam.PutRolePolicyInput{
					RoleName: role, PolicyName: name, PolicyDocument: document,
				}))
			},
			func(p *provider) (*string, error) {
				out, err := p.GetRolePolicy(p.t.Context(), &iam.GetRolePolicyInput{RoleName: role, PolicyName: name})
				if err != nil {
					return nil, err
				}
				return out.PolicyDocument, nil
			},
			func(p *provider) error {
				return ok(p.DeleteRolePolicy(p.t.Context(), &iam.DeleteRolePolicyInput{
					RoleName: role, PolicyName: name,
				}))
			}),
	}
}

// Terraform creates resources, finds no difference in its next plan, changes them, imports and destroys them.
func TestLifeCycleInTerraform(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	p := &provider{apitest.RootActor(s.Endpoint(), s.Root()).IAM, t}
	read := func(r *resource) state {
		t.Helper()
		got, err := r.read(p)
		if err != nil {
			t.Fatalf("%s: %v", r.kind, err)
		}
		return got
	}
	plan := func(r *resource, want state) {
		t.Helper()
		if got := read(r); !maps.Equal(got, want) {
			t.Errorf("%s: the plan has a difference:\n%v\n%v", r.kind, got, want)
		}
	}
	apply := func(r *resource) {
		t.Helper()
		if got := read(r); got != nil {
			t.Errorf("%s: it exists before it is created: %v", r.kind, got)
		}
		if err := r.create(p, r.want[0]); err != nil {
			t.Fatalf("create %s: %v", r.kind, err)
		}
		plan(r, r.want[0])
		if err := r.update(p, read(r), r.want[1]); err != nil {
			t.Fatalf("update %s: %v", r.kind, err)
		}
		plan(r, r.want[1])
	}
	destroy := func(r *resource) {
		t.Helper()
		if err := r.delete(p); err != nil {
			t.Errorf("destroy %s: %v", r.kind, err)
		}
		if got := read(r); got != nil {
			t.Errorf("%s: it exists after it was destroyed: %v", r.kind, got)
		}
	}
	base := []resource{userResource, roleResource, groupResource, policyResource}
	for i := range base {
		apply(&base[i])
	}
	// The configuration of a role with inline policies must name them: the provider reads them with the role, so they
	// go first.
	for _, r := range dependents() {
		apply(&r)
		destroy(&r)
	}
	for i := range base {
		destroy(&base[i])
	}
}

// Properties that users and roles cannot have here cannot be created either, and the refusal says that they are not
// supported.
func TestUnsupportedOperations(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	st.Does("CreateUser", with{"UserName", "bob"})
	for _, op := range []string{"UploadSSHPublicKey", "UploadSigningCertificate", "CreateSAMLProvider"} {
		st.Fails(op, with{"UserName", "bob"}, 400, "UnsupportedOperation",
			"The operation "+op+" is not supported by Sluice.")
	}
	st.Fails("TagGroup", with{"GroupName", "g"}, 400, "InvalidAction",
		"Could not find operation TagGroup for version 2010-05-08")
	st.Fails("ListSSHPublicKeys", with{"UserName", "nobody"}, 404, "NoSuchEntity", "nobody")
	st.Does("ListServerCertificates", nil, "<ServerCertificateMetadataList/><IsTruncated>false</IsTruncated>")
	st.Fails("ListServerCertificates", with{"PathPrefix", "x"}, 400, "ValidationError", "pathPrefix")
	st.Fails("ListServerCertificates", with{"MaxItems", "0"}, 400, "ValidationError", "maxItems")
	st.Does("ListSAMLProviders", nil, "<ListSAMLProvidersResult><SAMLProviderList/></ListSAMLProvidersResult>")
	st.Fails("ListMFADevices", with{"UserName", "bob", "MaxItems", "0"}, 400, "ValidationError", "maxItems")
	st.Fails("ListVirtualMFADevices", with{"AssignmentStatus", "Lost"}, 400, "ValidationError", "assignmentStatus")
	st.Fails("ListInstanceProfilesForRole", with{"RoleName", "nobody"}, 404, "NoSuchEntity", "nobody")
}

// Tags have IAM's limits, and a list of policies includes those that can be attached.
func TestTagLimits(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	st.Does("CreateUser", with{"UserName", "bob"})
	var full with
	for i := range 50 {
		full = append(full, fmt.Sprintf("Tags.member.%d.Key", i+1), fmt.Sprint("k", i),
			fmt.Sprintf("Tags.member.%d.Value", i+1), "")
	}
	st.Does("TagUser", append(full, "UserName", "bob"))
	st.Fails("TagUser", with{"UserName", "bob", "Tags.member.1.Key", "more", "Tags.member.1.Value", ""}, 409,
		"LimitExceeded", "50")
	st.Does("TagUser", with{"UserName", "bob", "Tags.member.1.Key", "k1", "Tags.member.1.Value", "other"})
	st.Does("ListUserTags", with{"UserName", "bob", "MaxItems", "2"},
		"<member><Key>k1</Key><Value>other</Value></member>", "<IsTruncated>true</IsTruncated>", "<Marker>")
	st.Does("UntagUser", with{"UserName", "bob", "TagKeys.member.1", "k1", "TagKeys.member.2", "never"})
	for op, want := range map[string]string{"TagUser": "'tags'", "UntagUser": "'tagKeys'"} {
		st.Fails(op, with{"UserName", "bob"}, 400, "ValidationError", want)
	}
	st.Fails("TagUser", with{"UserName", "bob", "Tags.member.1.Key", "", "Tags.member.1.Value", ""}, 400,
		"ValidationError", "tags.1.member.key")
	st.Fails("TagUser",
		with{"UserName", "bob", "Tags.member.1.Key", "k", "Tags.member.1.Value", strings.Repeat("v", 257)}, 400,
		"ValidationError", "256")
	st.Fails("TagUser",
		with{"UserName", "bob", "Tags.member.1.Key", "k", "Tags.member.1.Value", "1", "Tags.member.2.Key", "k",
			"Tags.member.2.Value", "2"}, 400, "InvalidInput", "Duplicate")
	st.Fails("TagPolicy", with{"PolicyArn", fullAccess, "Tags.member.1.Key", "k", "Tags.member.1.Value", ""}, 403,
		"AccessDenied", "managed by AWS")
	st.Does("CreatePolicy", with{"PolicyName", "p", "PolicyDocument", apitest.Allow("sqs:*", "*")})
	if body := st.Does("ListPolicies", with{"Scope", "Local", "PolicyUsageFilter", "PermissionsPolicy"},
		"<PolicyName>p</PolicyName>"); strings.Contains(body, "AmazonSQS") {
		t.Errorf("%s", body)
	}
	if body := st.Does("ListPolicies",
		with{"Scope", "Local", "PolicyUsageFilter", "PermissionsPolicy", "OnlyAttached",
			"true"}); strings.Contains(body, "PolicyName") {
		t.Errorf("%s", body)
	}
}

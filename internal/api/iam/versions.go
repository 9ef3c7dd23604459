package iam

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// PolicyVersion is a version of a managed policy.
type PolicyVersion struct {
	Document         string `json:",omitempty"`
	VersionId        string
	IsDefaultVersion bool
	CreateDate       time.Time
}

func showVersion(m *directory.Managed, v directory.Version) PolicyVersion {
	return PolicyVersion{VersionId: v.ID, IsDefaultVersion: v.ID == m.Default, CreateDate: v.Created}
}

type createPolicyVersionInput struct {
	PolicyArn      *string `max:"2048"`
	PolicyDocument *string `max:"128K"`
	SetAsDefault   *bool
}

type versionOutput struct{ PolicyVersion PolicyVersion }

func (s policies) createPolicyVersion(
	ctx context.Context, c *protocol.Call, in *createPolicyVersionInput,
) (*versionOutput, error) {
	text := orEmpty(in.PolicyDocument)
	m, err := s.managed(c, in.PolicyArn, "CreatePolicyVersion")
	if err != nil {
		return nil, err
	}
	if err := s.checkManaged(text, m.ARN()); err != nil {
		return nil, err
	}
	m, err = s.editedPolicy(ctx, m, func(tx *directory.Tx, m *directory.Managed) error {
		if len(m.Versions) >= maxVersions {
			return errLimit(
				"A managed policy can have up to %d versions. Before you create a new version, you must delete an existing version.",
				maxVersions,
			)
		}
		m.Last++
		m.Updated = s.now().UTC().Truncate(time.Second)
		version := directory.Version{ID: fmt.Sprintf("v%d", m.Last), Document: text, Created: m.Updated}
		m.Versions = append(m.Versions, version)
		if in.SetAsDefault != nil && *in.SetAsDefault {
			m.Default = version.ID
		}
		tx.PutPolicy(m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &versionOutput{showVersion(m, m.Versions[len(m.Versions)-1])}, nil
}

// version returns the policy and the version that a request names, if the caller
// may take the action on the policy.
func (s policies) version(
	c *protocol.Call, in *policyInput, action string,
) (*directory.Managed, directory.Version, error) {
	id := orEmpty(in.VersionId)
	m, err := s.managed(c, in.PolicyArn, action)
	if err != nil {
		return nil, directory.Version{}, err
	}
	version, ok := m.Version(id)
	if !ok {
		return nil, directory.Version{}, errNoVersion(m.ARN(), id)
	}
	return m, version, nil
}

func errNoVersion(arn, id string) error {
	return errNotFound("Policy %s version %s does not exist or is not attachable.", arn, service.Shorten(id))
}

func (s policies) getPolicyVersion(_ context.Context, c *protocol.Call, in *policyInput) (*versionOutput, error) {
	m, version, err := s.version(c, in, "GetPolicyVersion")
	if err != nil {
		return nil, err
	}
	out := &versionOutput{showVersion(m, version)}
	out.PolicyVersion.Document = escape(version.Document)
	return out, nil
}

func (s policies) deletePolicyVersion(ctx context.Context, c *protocol.Call, in *policyInput) (*service.Empty, error) {
	m, version, err := s.version(c, in, "DeletePolicyVersion")
	if err != nil {
		return nil, err
	}
	return nil, s.editPolicy(ctx, m, func(tx *directory.Tx, m *directory.Managed) error {
		if m.Default == version.ID {
			return service.Modelled(
				"DeleteConflictException", "DeleteConflict", 409, "Cannot delete the default version of a policy.",
			)
		}
		m.Versions = slices.DeleteFunc(m.Versions, func(v directory.Version) bool { return v.ID == version.ID })
		tx.PutPolicy(m)
		return nil
	})
}

type listVersionsOutput struct {
	Versions    []PolicyVersion `json:",always"    wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

func (s policies) listPolicyVersions(
	_ context.Context, c *protocol.Call, in *policyInput,
) (*listVersionsOutput, error) {
	m, err := s.managed(c, in.PolicyArn, "ListPolicyVersions")
	if err != nil {
		return nil, err
	}
	newest := slices.Clone(m.Versions)
	slices.Reverse(newest)
	age := func(v directory.Version) string { return fmt.Sprintf("%9d", 999_999_999-v.Number()) }
	p, err := paginate(newest, age, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	show := func(v directory.Version) PolicyVersion { return showVersion(m, v) }
	return &listVersionsOutput{service.Convert(p.Items, show), p.Next != "", p.Next}, nil
}

func (s policies) setDefaultPolicyVersion(
	ctx context.Context, c *protocol.Call, in *policyInput,
) (*service.Empty, error) {
	m, version, err := s.version(c, in, "SetDefaultPolicyVersion")
	if err != nil {
		return nil, err
	}
	return nil, s.editPolicy(ctx, m, func(tx *directory.Tx, m *directory.Managed) error {
		if _, ok := m.Version(version.ID); !ok {
			return errNoVersion(m.ARN(), version.ID)
		}
		m.Default, m.Updated = version.ID, s.now().UTC().Truncate(time.Second)
		tx.PutPolicy(m)
		return nil
	})
}

package iam

import (
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// IAM's quotas.
const (
	maxUsers         = 5000
	maxGroups        = 300
	maxRoles         = 1000
	maxPolicies      = 1500
	maxGroupsPerUser = 10
	maxKeys          = 2
	maxVersions      = 5
	maxAttached      = 10
	maxTags          = 50
	maxProfiles      = 1000

	maxRolesPerProfile = 1
)

// checkPath returns the path in a request, if it is valid, or "/" without one.
func checkPath(member string, path *string) (string, error) {
	switch {
	case path == nil:
		return "/", nil
	case strings.Contains(*path, "//"):
		return "", protocol.ValidationError(sentences["path"], member)
	}
	return *path, nil
}

// isARN reports whether s has the six parts of an ARN.
func isARN(s string) bool { return strings.HasPrefix(s, "arn:") && strings.Count(s, ":") >= 5 }

// prefixed reports whether path begins with the prefix, or whether there is no prefix.
func prefixed(path string, prefix *string) bool {
	return prefix == nil || strings.HasPrefix(path, *prefix)
}

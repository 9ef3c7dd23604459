package iam

import (
	"strings"

	"github.com/sluicemq/sluice/internal/auth/directory"
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

// longest is how many characters a name can have.
var longest = map[directory.Kind]int{directory.User: 64, directory.Group: 128, directory.Role: 64, directory.Profile: 128}

const longestPolicy = 128

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+=,.@_-", r)
}

// checkName returns the name that a request gives to something, if it is a valid one.
func checkName(member string, name *string, most int) (string, error) {
	var v protocol.Violations
	written := v.Required(member, name)
	v.Length(member, name, 1, most)
	if err := v.Err(); err != nil {
		return "", err
	}
	if strings.ContainsFunc(written, func(r rune) bool { return !isNameRune(r) }) {
		return "", protocol.ValidationError("The specified value for %s is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-", member)
	}
	return written, nil
}

// checkPath returns the path that a request sets, if it is a valid one, or "/" if it sets none.
func checkPath(member string, path *string) (string, error) {
	var v protocol.Violations
	v.Length(member, path, 1, 512)
	if err := v.Err(); err != nil {
		return "", err
	}
	if path == nil {
		return "/", nil
	}
	p := *path
	visible := !strings.ContainsFunc(p, isInvisible)
	if !strings.HasPrefix(p, "/") || !strings.HasSuffix(p, "/") || !visible || strings.Contains(p, "//") {
		return "", protocol.ValidationError("The specified value for %s is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.", member)
	}
	return p, nil
}

// checkPrefix refuses what no path begins with.
func checkPrefix(prefix *string) error {
	var v protocol.Violations
	v.Length("pathPrefix", prefix, 1, 512)
	if err := v.Err(); err != nil {
		return err
	}
	if prefix != nil && (!strings.HasPrefix(*prefix, "/") || strings.ContainsFunc(*prefix, isInvisible)) {
		return protocol.ValidationError("The specified value for pathPrefix is invalid. It must begin with / and contain only alphanumeric characters and/or / characters.")
	}
	return nil
}

func isInvisible(r rune) bool { return r <= ' ' || r >= 0x7f }

// isARN reports whether s has the six parts of an ARN.
func isARN(s string) bool { return strings.HasPrefix(s, "arn:") && strings.Count(s, ":") >= 5 }

// prefixed reports whether path begins with the prefix, or there is no prefix.
func prefixed(path string, prefix *string) bool {
	return prefix == nil || strings.HasPrefix(path, *prefix)
}

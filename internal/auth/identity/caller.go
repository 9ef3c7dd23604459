package identity

import (
	"strings"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// ParseCaller parses a caller: the ARN of a root, user, assumed role or federated user, an account's 12 digits for its
// root, or "anonymous". It returns false for anything else.
func ParseCaller(text string) (policy.Caller, bool) {
	if strings.EqualFold(text, "anonymous") {
		return policy.Caller{}, true
	}
	if IsAccount(text) {
		text = RootARN(text)
	}
	arn := strings.SplitN(text, ":", 6)
	if len(arn) != 6 || arn[0] != "arn" || !IsAccount(arn[4]) {
		return policy.Caller{}, false
	}
	c := policy.Caller{Account: arn[4], ARN: text}
	kind, name, _ := strings.Cut(arn[5], "/")
	switch of := arn[2] + " " + kind; {
	case of == "iam root" && name == "":
		c.Kind, c.UserID = policy.Account, c.Account
	case of == "iam user" && name != "":
		c.Kind, c.UserName = policy.User, name[strings.LastIndexByte(name, '/')+1:]
	case of == "sts assumed-role" && strings.Count(name, "/") == 1:
		role, _, _ := strings.Cut(name, "/")
		c.Kind, c.Issuer = policy.AssumedRole, "arn:"+arn[1]+":iam::"+c.Account+":role/"+role
	case of == "sts federated-user" && name != "":
		c.Kind, c.UserID = policy.FederatedUser, c.Account+":"+name
	default:
		return policy.Caller{}, false
	}
	return c, true
}

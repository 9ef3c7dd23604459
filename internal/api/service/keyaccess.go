package service

import (
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

const (
	keyDecrypt  = "kms:Decrypt"
	keyGenerate = "kms:GenerateDataKey"
)

// Actions that a caller takes with the key of a queue or topic, as on AWS.
var (
	ToEncrypt = []string{keyGenerate, keyDecrypt} // sends and publishes
	ToDecrypt = []string{keyDecrypt}              // receives
)

// KeyRules are the rules of KMS for the keys that encrypt messages. The keys have no policies, so other accounts may
// never use them.
var KeyRules = &policy.Rules{
	Vendor: "kms", Actions: []string{keyDecrypt, keyGenerate}, OwnerOnly: []string{keyDecrypt, keyGenerate},
}

// KeyAccess decides who may use the key that a queue or topic names by KmsMasterKeyId. The account of the queue or
// topic owns the key. Its callers may use the keys alias/aws/... unless a policy denies it, and other keys only if a
// policy allows it. A nil KeyAccess allows everything.
type KeyAccess struct {
	authorizer *Authorizer
	encrypts   func() bool // whether messages are encrypted
}

// NewKeyAccess returns a KeyAccess; see NewAuthorizer.
func NewKeyAccess(decider *access.Decider, now func() time.Time, encrypts func() bool) *KeyAccess {
	return &KeyAccess{NewAuthorizer(decider, KeyRules, now), encrypts}
}

// Authorize returns nil if the caller may take the actions with the key of a queue or topic of an account. The error
// holds the *access.Denial.
func (k *KeyAccess) Authorize(c *protocol.Call, account, region, key string, actions []string) error {
	if k == nil || key == "" || !k.encrypts() {
		return nil
	}
	s := Subject{Resource: keyResource{account, region, key}, Owner: account}
	if !isManaged(key) || Caller(c).Account != account {
		return k.authorizer.Authorize(c, s, actions...)
	}
	for _, action := range actions {
		if err := k.authorizer.Forbidden(c, s, action); err != nil {
			return err
		}
	}
	return nil
}

// isManaged reports whether the name of a key is an alias of a key that AWS manages, or the ARN of such an alias. No
// operator can name a key like that.
func isManaged(key string) bool {
	if parts := strings.SplitN(key, ":", 6); len(parts) == 6 && parts[0] == "arn" && parts[2] == "kms" {
		key = parts[5]
	}
	return strings.HasPrefix(key, "alias/aws/")
}

// keyResource is the key of a queue or topic, by the name that this has for it.
type keyResource struct{ account, region, key string }

// ARN implements Resource.
func (k keyResource) ARN() string {
	switch {
	case strings.HasPrefix(k.key, "arn:"):
		return k.key
	case strings.HasPrefix(k.key, "alias/"):
		return "arn:aws:kms:" + k.region + ":" + k.account + ":" + k.key
	}
	return "arn:aws:kms:" + k.region + ":" + k.account + ":key/" + k.key
}

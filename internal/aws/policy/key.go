package policy

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// key is the name of a condition key. Names are compared without regard to
// case: the guide prints both AWS:CurrentTime and aws:CurrentTime. Those that are
// not listed here can be in a policy as well; aws:PrincipalOrgID and the like
// are never in a request.
type key struct {
	written string
	name    string // in lower case
	id      keyID
	arg     string // of aws:RequestTag/arg and its like, as written
}

type keyID uint8

const (
	otherKey keyID = iota // only Facts.Lookup may know it
	currentTime
	epochTime
	federatedProvider
	multiFactorAuthAge
	multiFactorAuthPresent
	principalType
	principalARN
	principalAccount
	principalIsService
	principalServiceName
	principalTag
	requestedRegion
	requestTag
	resourceAccount
	resourceTag
	secureTransport
	sourceAccount
	sourceARN
	sourceIdentity
	sourceIP
	tagKeys
	tokenIssueTime
	userAgent
	userID
	userName
	viaService
)

var keyIDs = map[string]keyID{
	"aws:currenttime":            currentTime,
	"aws:epochtime":              epochTime,
	"aws:federatedprovider":      federatedProvider,
	"aws:multifactorauthage":     multiFactorAuthAge,
	"aws:multifactorauthpresent": multiFactorAuthPresent,
	"aws:principalaccount":       principalAccount,
	"aws:principalarn":           principalARN,
	"aws:principalisawsservice":  principalIsService,
	"aws:principalservicename":   principalServiceName,
	"aws:principaltag/":          principalTag,
	"aws:principaltype":          principalType,
	"aws:requestedregion":        requestedRegion,
	"aws:requesttag/":            requestTag,
	"aws:resourceaccount":        resourceAccount,
	"aws:resourcetag/":           resourceTag,
	"aws:securetransport":        secureTransport,
	"aws:sourceaccount":          sourceAccount,
	"aws:sourcearn":              sourceARN,
	"aws:sourceidentity":         sourceIdentity,
	"aws:sourceip":               sourceIP,
	"aws:sourceowner":            sourceAccount, // the name that it has in SNS's default policy
	"aws:tagkeys":                tagKeys,
	"aws:tokenissuetime":         tokenIssueTime,
	"aws:useragent":              userAgent,
	"aws:userid":                 userID,
	"aws:username":               userName,
	"aws:viaawsservice":          viaService,
	"iam:resourcetag/":           resourceTag, // IAM's own name for it
}

func newKey(written string) key {
	k := key{written: written, name: strings.ToLower(written)}
	family := k.name
	if i := strings.IndexByte(written, '/'); i >= 0 {
		k.arg, family = written[i+1:], strings.ToLower(written[:i+1])
	}
	k.id = keyIDs[family]
	return k
}

// lookup puts the value of a key into v, and reports whether the request has
// one. A list without elements is no value.
func (e *evaluation) lookup(k *key, v *Value) bool {
	r := e.request
	if r.Facts.Lookup != nil {
		if found, ok := r.Facts.Lookup(k.name); ok {
			*v = found
			return v.kind != listValue || len(v.list) > 0
		}
	}
	c, f := &r.Caller, &r.Facts
	switch k.id {
	case currentTime:
		*v = Value{kind: timeValue, time: f.Time}
		return !f.Time.IsZero()
	case epochTime:
		*v = Value{kind: epochValue, time: f.Time}
		return !f.Time.IsZero()
	case federatedProvider:
		return v.set(c.Provider)
	case multiFactorAuthAge:
		age := f.Time.Sub(c.MFA).Truncate(time.Second)
		*v = Value{kind: numberValue, number: age.Seconds()}
		return !c.MFA.IsZero()
	case multiFactorAuthPresent:
		*v = Value{kind: truthValue, truth: !c.MFA.IsZero()}
		return !c.Issued.IsZero() || !c.MFA.IsZero()
	case tokenIssueTime:
		*v = Value{kind: timeValue, time: c.Issued}
		return !c.Issued.IsZero()
	case principalType:
		v.set(c.Kind.String())
		return c.Kind != Service
	case principalARN:
		v.set(c.ARN)
		if c.Kind == AssumedRole {
			v.set(c.Issuer)
		}
		return c.signed()
	case principalAccount:
		v.set(c.Account)
		return c.signed()
	case principalIsService:
		*v = Value{kind: truthValue, truth: c.Kind == Service}
		return true
	case principalServiceName:
		v.set(c.Service)
		return c.Kind == Service
	case principalTag:
		return v.setTag(e, c.Tags, k.arg)
	case requestedRegion:
		return v.set(f.Region)
	case requestTag:
		return v.setTag(e, f.RequestTags, k.arg)
	case resourceTag:
		return v.setTag(e, f.ResourceTags, k.arg)
	case resourceAccount:
		return v.set(r.Owner)
	case secureTransport:
		*v = Value{kind: truthValue, truth: f.SecureTransport}
		return true
	case sourceAccount:
		v.set(f.SourceAccount)
		return c.Kind == Service && f.SourceAccount != ""
	case sourceARN:
		v.set(f.SourceARN)
		return c.Kind == Service && f.SourceARN != ""
	case sourceIdentity:
		return v.set(c.SourceIdentity)
	case sourceIP:
		*v = Value{kind: addrValue, addr: f.SourceIP.Unmap().WithZone("")}
		return f.SourceIP.IsValid() && c.Kind != Service
	case tagKeys:
		if len(f.RequestTags) > 0 && e.tagKeys == nil {
			e.tagKeys = slices.AppendSeq(slices.Clone(f.TagKeys), maps.Keys(f.RequestTags))
			slices.Sort(e.tagKeys)
		}
		*v = List(f.TagKeys)
		if e.tagKeys != nil {
			*v = List(e.tagKeys)
		}
		return len(v.list) > 0
	case userAgent:
		return v.set(f.UserAgent)
	case userID:
		if c.Kind == Anonymous {
			return v.set("anonymous")
		}
		return v.set(c.UserID)
	case userName:
		v.set(c.UserName)
		return c.Kind == User && c.UserName != ""
	case viaService:
		*v = Value{kind: truthValue}
		return true
	}
	return false
}

// set makes v a text and reports whether there is any.
func (v *Value) set(s string) bool {
	*v = Value{text: s}
	return s != ""
}

// setTag finds a tag whose key differs from the one asked for in case at most.
// Of several the one written the same wins, then the first in alphabetical order.
func (v *Value) setTag(e *evaluation, tags map[string]string, name string) bool {
	if s, ok := tags[name]; ok {
		*v = Text(s)
		return true
	}
	if !e.spend(len(tags) * (1 + len(name))) {
		return false
	}
	found := ""
	for other, s := range tags {
		if strings.EqualFold(other, name) && (found == "" || other < found) {
			found = other
			*v = Text(s)
		}
	}
	return found != ""
}

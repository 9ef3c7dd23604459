package iam_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

func TestOpenIDConnectProviders(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	const print = "0123456789abcdef0123456789ABCDEF01234567"
	arn := "arn:aws:iam::" + account + ":oidc-provider/login.example.com/realms/a"
	named := with{"OpenIDConnectProviderArn", arn}
	st.Does("CreateOpenIDConnectProvider", with{
		"Url", "https://login.example.com/realms/a", "ClientIDList.member.1", "one", "ClientIDList.member.2", "one",
		"ThumbprintList.member.1", print,
		"Tags.member.1.Key", "team", "Tags.member.1.Value", "red",
	}, "<OpenIDConnectProviderArn>"+arn+"</OpenIDConnectProviderArn>",
		"<Tags><member><Key>team</Key><Value>red</Value></member></Tags>")
	st.Refuses("CreateOpenIDConnectProvider", with{"Url", "https://login.example.com/realms/a"}, 409,
		"EntityAlreadyExists", "Provider with url https://login.example.com/realms/a already exists.")
	st.Fails("CreateOpenIDConnectProvider", nil, 400, "ValidationError", "Value null at 'url'")
	for _, url := range []string{"http://login.example.com", "login.example.com", "https://", "https://a@b",
		"https://a?b", "https://a#b", "https://a b"} {
		st.Refuses("CreateOpenIDConnectProvider", with{"Url", url}, 400, "ValidationError",
			"Invalid Open ID Connect Provider URL")
	}
	st.Fails("CreateOpenIDConnectProvider", with{"Url", "https://x.example", "ThumbprintList.member.1", "ab"}, 400,
		"ValidationError", "greater than or equal to 40")
	st.Fails("CreateOpenIDConnectProvider",
		with{"Url", "https://x.example", "ThumbprintList.member.1", strings.Repeat("x", 40)}, 400, "ValidationError",
		"regular expression")
	st.Fails("CreateOpenIDConnectProvider",
		with{"Url", "https://x.example", "ClientIDList.member.1", strings.Repeat("x", 256)}, 400, "ValidationError",
		"255")
	many := with{"Url", "https://x.example"}
	for i := range 6 {
		many = append(many, fmt.Sprintf("ThumbprintList.member.%d", i+1), print)
	}
	st.Refuses("CreateOpenIDConnectProvider", many, 400, "InvalidInput",
		"Thumbprint list must contain fewer than 5 entries.")
	st.Does("GetOpenIDConnectProvider", named, "<Url>login.example.com/realms/a</Url>",
		"<ClientIDList><member>one</member></ClientIDList>",
		"<ThumbprintList><member>"+print+"</member></ThumbprintList>", "<CreateDate>20", "<Key>team</Key>")
	st.Refuses("GetOpenIDConnectProvider", with{"OpenIDConnectProviderArn", arn + "x"}, 404, "NoSuchEntity",
		"OpenIDConnect Provider not found for arn "+arn+"x")
	st.Fails("GetOpenIDConnectProvider", with{"OpenIDConnectProviderArn", strings.Repeat("x", 20)}, 400, "InvalidInput",
		"is not valid")
	st.Fails("GetOpenIDConnectProvider",
		with{"OpenIDConnectProviderArn", strings.Replace(arn, account, otherAccount, 1)}, 404, "NoSuchEntity", "")
	st.Does("ListOpenIDConnectProviders", nil,
		"<OpenIDConnectProviderList><member><Arn>"+arn+"</Arn></member></OpenIDConnectProviderList>")
	st.Does("AddClientIDToOpenIDConnectProvider", append(named, "ClientID", "two"))
	st.Does("AddClientIDToOpenIDConnectProvider", append(named, "ClientID", "two"))
	st.Does("RemoveClientIDFromOpenIDConnectProvider", append(named, "ClientID", "one"))
	st.Does("RemoveClientIDFromOpenIDConnectProvider", append(named, "ClientID", "one"))
	st.Does("UpdateOpenIDConnectProviderThumbprint", append(named, "ThumbprintList.member.1", strings.Repeat("0", 40)))
	st.Fails("UpdateOpenIDConnectProviderThumbprint", named, 400, "ValidationError", "Value null at 'thumbprintList'")
	st.Does("TagOpenIDConnectProvider", append(named, "Tags.member.1.Key", "env", "Tags.member.1.Value", "prod"))
	st.Does("UntagOpenIDConnectProvider", append(named, "TagKeys.member.1", "team"))
	st.Does("ListOpenIDConnectProviderTags", named,
		"<Tags><member><Key>env</Key><Value>prod</Value></member></Tags><IsTruncated>false</IsTruncated>")
	st.Does("GetOpenIDConnectProvider", named, "<ClientIDList><member>two</member></ClientIDList>",
		"<ThumbprintList><member>"+strings.Repeat("0", 40))
	for i := range 99 {
		st.Does("AddClientIDToOpenIDConnectProvider", append(named, "ClientID", fmt.Sprint(i)))
	}
	st.Fails("AddClientIDToOpenIDConnectProvider", append(named, "ClientID", "last"), 409, "LimitExceeded",
		"Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: 100")
	clients := with{"Url", "https://x.example"}
	for i := range 101 {
		clients = append(clients, fmt.Sprintf("ClientIDList.member.%d", i+1), fmt.Sprint(i))
	}
	st.Refuses("CreateOpenIDConnectProvider", clients, 409, "LimitExceeded",
		"Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: 100")
	st.Does("CreateOpenIDConnectProvider", append(clients[:len(clients)-1], "0")) // a duplicate
	st.Does("DeleteOpenIDConnectProvider",
		with{"OpenIDConnectProviderArn", "arn:aws:iam::" + account + ":oidc-provider/x.example"})
	st.Does("DeleteOpenIDConnectProvider", named)
	st.Does("DeleteOpenIDConnectProvider", named)
	st.Does("ListOpenIDConnectProviders", nil, "<OpenIDConnectProviderList/>")
}

func TestInstanceProfiles(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	named := with{"InstanceProfileName", "web"}
	st.Does("CreateInstanceProfile",
		append(named, "Path", "/app/", "Tags.member.1.Key", "team", "Tags.member.1.Value", "red"),
		"<Arn>arn:aws:iam::"+account+":instance-profile/app/web</Arn>", "<InstanceProfileId>AIPA", "<Roles/>",
		"<Key>team</Key>")
	st.Refuses("CreateInstanceProfile", with{"InstanceProfileName", "WEB"}, 409, "EntityAlreadyExists",
		"Instance Profile WEB already exists.")
	st.Fails("CreateInstanceProfile", nil, 400, "ValidationError", "Value null at 'instanceProfileName'")
	st.Refuses("GetInstanceProfile", with{"InstanceProfileName", "other"}, 404, "NoSuchEntity",
		"Instance Profile other cannot be found.")
	for _, role := range []string{"one", "two"} {
		st.Does("CreateRole", with{"RoleName", role, "AssumeRolePolicyDocument", apitest.Trusting(account)})
	}
	st.Fails("AddRoleToInstanceProfile", append(named, "RoleName", "none"), 404, "NoSuchEntity",
		"The role with name none cannot be found.")
	st.Does("AddRoleToInstanceProfile", append(named, "RoleName", "one"))
	st.Refuses("AddRoleToInstanceProfile", append(named, "RoleName", "two"), 409, "LimitExceeded",
		"Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	st.Does("GetInstanceProfile", named, "<Roles><member><Path>/</Path><RoleName>one</RoleName>",
		"<AssumeRolePolicyDocument>%7B")
	st.Does("ListInstanceProfilesForRole", with{"RoleName", "one"}, "<InstanceProfileName>web</InstanceProfileName>")
	st.Does("ListInstanceProfilesForRole", with{"RoleName", "two"}, "<InstanceProfiles/>")
	st.Does("ListInstanceProfiles", with{"PathPrefix", "/app/"}, "<InstanceProfileName>web</InstanceProfileName>",
		"<IsTruncated>false</IsTruncated>")
	st.Does("ListInstanceProfiles", with{"PathPrefix", "/other/"}, "<InstanceProfiles/>")
	st.Refuses("DeleteRole", with{"RoleName", "one"}, 409, "DeleteConflict",
		"Cannot delete entity, must remove roles from instance profile first.")
	st.Refuses("DeleteInstanceProfile", named, 409, "DeleteConflict",
		"Cannot delete entity, must remove roles from instance profile first.")
	st.Fails("RemoveRoleFromInstanceProfile", append(named, "RoleName", "two"), 404, "NoSuchEntity", "two")
	st.Does("RemoveRoleFromInstanceProfile", append(named, "RoleName", "one"))
	st.Does("TagInstanceProfile", append(named, "Tags.member.1.Key", "env", "Tags.member.1.Value", "prod"))
	st.Does("UntagInstanceProfile", append(named, "TagKeys.member.1", "team"))
	st.Does("ListInstanceProfileTags", named, "<Tags><member><Key>env</Key><Value>prod</Value></member></Tags>")
	st.Does("DeleteRole", with{"RoleName", "one"})
	st.Does("DeleteInstanceProfile", named)
	st.Fails("DeleteInstanceProfile", named, 404, "NoSuchEntity", "Instance Profile web cannot be found.")
}

// A profile passes its role on, which takes permission for the role.
func TestProfilesTakePassRole(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	st.Does("CreateRole", with{"RoleName", "r", "AssumeRolePolicyDocument", apitest.Trusting(account)})
	st.Does("CreateInstanceProfile", with{"InstanceProfileName", "p"})
	bob := newUser(st, "bob", apitest.Allow("iam:AddRoleToInstanceProfile", "*"))
	bob.Fails("AddRoleToInstanceProfile", with{"InstanceProfileName", "p", "RoleName", "r"}, 403, "AccessDenied",
		"iam:PassRole on resource: arn:aws:iam::"+account+":role/r")
	eve := newUser(st, "eve",
		`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["iam:AddRoleToInstanceProfile","iam:PassRole"],"Resource":"*"}}`)
	eve.Does("AddRoleToInstanceProfile", with{"InstanceProfileName", "p", "RoleName", "r"})
}

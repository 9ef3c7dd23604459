package iam

// unsupported lists the operations of IAM that this server does not have.
var unsupported = []string{
	"AcceptDelegationRequest", "AcquireRole", "AssociateDelegationRequest", "CreateDelegationRequest",
	"CreateSAMLProvider", "CreateServiceSpecificCredential", "DeleteSAMLProvider",
	"DeleteSSHPublicKey", "DeleteServerCertificate", "DeleteServiceSpecificCredential",
	"DeleteSigningCertificate", "DisableOrganizationsRootCredentialsManagement", "DisableOrganizationsRootSessions",
	"DisableOutboundWebIdentityFederation", "EnableOrganizationsRootCredentialsManagement",
	"EnableOrganizationsRootSessions", "EnableOutboundWebIdentityFederation", "GenerateOrganizationsAccessReport",
	"GetAccountProperties", "GetDelegationRequest", "GetHumanReadableSummary",
	"GetOrganizationsAccessReport", "GetOutboundWebIdentityFederationInfo", "GetRoleTemplateVersion",
	"GetSAMLProvider", "GetSSHPublicKey", "GetServerCertificate",
	"ListDelegationRequests", "ListOrganizationsFeatures", "ListPoliciesGrantingServiceAccess", "ListSAMLProviderTags",
	"ListServerCertificateTags", "PutAccountProperties",
	"RejectDelegationRequest", "ResetServiceSpecificCredential", "SendDelegationToken",
	"SetSecurityTokenServicePreferences", "TagSAMLProvider", "TagServerCertificate", "UntagSAMLProvider",
	"UntagServerCertificate", "UpdateDelegationRequest", "UpdateOpenIDConnectProvider", "UpdateSAMLProvider",
	"UpdateSSHPublicKey", "UpdateServerCertificate", "UpdateServiceSpecificCredential", "UpdateSigningCertificate",
	"UploadSSHPublicKey", "UploadServerCertificate", "UploadSigningCertificate",
}

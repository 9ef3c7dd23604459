package sns

// unsupported are the operations for mobile phones, and those of the data protection policies.
var unsupported = []string{
	"CheckIfPhoneNumberIsOptedOut", "CreatePlatformApplication", "CreatePlatformEndpoint",
	"CreateSMSSandboxPhoneNumber",
	"DeleteEndpoint", "DeletePlatformApplication", "DeleteSMSSandboxPhoneNumber", "GetDataProtectionPolicy",
	"GetEndpointAttributes", "GetPlatformApplicationAttributes", "GetSMSAttributes", "GetSMSSandboxAccountStatus",
	"ListEndpointsByPlatformApplication", "ListOriginationNumbers", "ListPhoneNumbersOptedOut",
	"ListPlatformApplications",
	"ListSMSSandboxPhoneNumbers", "OptInPhoneNumber", "PutDataProtectionPolicy", "SetEndpointAttributes",
	"SetPlatformApplicationAttributes", "SetSMSAttributes", "VerifySMSSandboxPhoneNumber",
}

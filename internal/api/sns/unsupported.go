package sns

// unsupported are the operations that would reach mobile phones, or look into messages.
var unsupported = []string{
	"CreatePlatformApplication", "CreatePlatformEndpoint", "CreateSMSSandboxPhoneNumber",
	"DeleteEndpoint", "DeletePlatformApplication", "DeleteSMSSandboxPhoneNumber",
	"GetEndpointAttributes", "GetPlatformApplicationAttributes",
	"ListEndpointsByPlatformApplication", "PutDataProtectionPolicy", "SetEndpointAttributes",
	"SetPlatformApplicationAttributes", "VerifySMSSandboxPhoneNumber",
}

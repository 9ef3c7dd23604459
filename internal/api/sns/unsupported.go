package sns

// unsupported are the operations that would reach mobile phones.
var unsupported = []string{
	"CreatePlatformApplication", "CreatePlatformEndpoint", "CreateSMSSandboxPhoneNumber",
	"DeleteEndpoint", "DeletePlatformApplication", "DeleteSMSSandboxPhoneNumber",
	"GetEndpointAttributes", "GetPlatformApplicationAttributes",
	"ListEndpointsByPlatformApplication", "SetEndpointAttributes",
	"SetPlatformApplicationAttributes", "VerifySMSSandboxPhoneNumber",
}

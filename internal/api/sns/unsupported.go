package sns

// unsupported are the operations that would reach mobile phones.
var unsupported = []string{
	"CreatePlatformApplication", "CreateSMSSandboxPhoneNumber", "DeleteSMSSandboxPhoneNumber",
	"VerifySMSSandboxPhoneNumber",
}

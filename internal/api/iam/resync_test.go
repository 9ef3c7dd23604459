package iam_test

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// An authenticator whose clock is wrong is accepted again after two of its codes. Codes that were used are not.
func TestResyncMFADevice(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	for _, name := range []string{"ann", "eve"} {
		st.Does("CreateUser", with{"UserName", name})
	}
	made := st.Does("CreateVirtualMFADevice", with{"VirtualMFADeviceName", "phone"})
	serial, seed, now := apitest.Element(made, "SerialNumber"), apitest.Element(made, "Base32StringSeed"), time.Now()
	codes := func(user string, ahead time.Duration) with {
		return with{
			"UserName", user, "SerialNumber", serial,
			"AuthenticationCode1", apitest.Code6(t, seed, now.Add(ahead-30*time.Second)),
			"AuthenticationCode2", apitest.Code6(t, seed, now.Add(ahead)),
		}
	}
	const unassigned = "MFA Device invalid for user."
	const wrong = "Authentication code for device is not valid."
	st.Refuses("ResyncMFADevice", codes("ann", 0), 404, "NoSuchEntity", unassigned)
	st.Does("EnableMFADevice", codes("ann", 0))
	st.Refuses("ResyncMFADevice", codes("eve", 10*time.Minute), 404, "NoSuchEntity", unassigned)
	st.Refuses("ResyncMFADevice", codes("none", 0), 404, "NoSuchEntity", "The user with name none cannot be found.")
	st.Refuses("ResyncMFADevice", codes("ann", time.Hour), 403, "InvalidAuthenticationCode", wrong)
	st.Refuses("ResyncMFADevice", codes("ann", 0), 403, "InvalidAuthenticationCode", wrong) // was used
	st.Does("ResyncMFADevice", codes("ann", 10*time.Minute))
	st.Refuses("ResyncMFADevice", codes("ann", 10*time.Minute), 403, "InvalidAuthenticationCode", wrong)
	st.Fails("ResyncMFADevice", with{"UserName", "ann", "SerialNumber", serial, "AuthenticationCode1", "123456"},
		400, "ValidationError", "Value null at 'authenticationCode2'")
	st.Does("DeactivateMFADevice", with{"UserName", "ann", "SerialNumber", serial})
	// forgets the clock
	st.Refuses("EnableMFADevice", codes("ann", 11*time.Minute), 403, "InvalidAuthenticationCode", wrong)
}

func TestGetMFADevice(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	ann := newUser(st, "ann", apitest.Allow("iam:GetMFADevice", "arn:aws:iam::"+account+":user/ann"))
	made := st.Does("CreateVirtualMFADevice", with{"VirtualMFADeviceName", "phone"})
	serial, seed := apitest.Element(made, "SerialNumber"), apitest.Element(made, "Base32StringSeed")
	named := with{"UserName", "ann", "SerialNumber", serial}
	st.Refuses("GetMFADevice", named, 404, "NoSuchEntity", "MFA Device invalid for user.")
	st.Does("EnableMFADevice",
		append(named, "AuthenticationCode1", apitest.Code6(t, seed, time.Now().Add(-30*time.Second)),
			"AuthenticationCode2", apitest.Code6(t, seed, time.Now())))
	want := []string{"<UserName>ann</UserName><SerialNumber>" + serial + "</SerialNumber><EnableDate>20"}
	st.Does("GetMFADevice", named, want...)
	ann.Does("GetMFADevice", with{"SerialNumber", serial}, want...)
	ann.Fails("GetMFADevice", with{"UserName", "eve", "SerialNumber", serial}, 403, "AccessDenied",
		"iam:GetMFADevice on resource: user eve because")
	st.Refuses("GetMFADevice", with{"SerialNumber", serial}, 400, "ValidationError",
		"Must specify userName when calling with non-User credentials")
	st.Fails("GetMFADevice", with{"UserName", "ann", "SerialNumber", "short"}, 400, "ValidationError", "serialNumber")
}

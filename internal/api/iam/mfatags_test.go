package iam_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// A second factor has tags from its creation on.
func TestTagsOfMFADevices(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	made := st.Does("CreateVirtualMFADevice",
		with{"VirtualMFADeviceName", "phone", "Tags.member.1.Key", "b", "Tags.member.1.Value", "2"},
		"<Tags><member><Key>b</Key><Value>2</Value></member></Tags>")
	device := with{"SerialNumber", apitest.Element(made, "SerialNumber")}
	st.Does("TagMFADevice",
		append(device, "Tags.member.1.Key", "a", "Tags.member.1.Value", "1", "Tags.member.2.Key", "B",
			"Tags.member.2.Value", "3"))
	st.Does("ListMFADeviceTags", device,
		"<Tags><member><Key>B</Key><Value>3</Value></member><member><Key>a</Key><Value>1</Value></member></Tags>")
	st.Does("UntagMFADevice", append(device, "TagKeys.member.1", "A"))
	if got := st.Does("ListMFADeviceTags", device); strings.Count(got, "<member>") != 1 {
		t.Errorf("%s", got)
	}
	if got := st.Does("ListVirtualMFADevices", nil); strings.Contains(got, "Tags") {
		t.Errorf("a list shows tags: %s", got)
	}
	const unknown = "arn:aws:iam::" + account + ":mfa/none"
	for action, in := range map[string]with{
		"TagMFADevice":      {"SerialNumber", unknown, "Tags.member.1.Key", "a", "Tags.member.1.Value", "1"},
		"UntagMFADevice":    {"SerialNumber", unknown, "TagKeys.member.1", "a"},
		"ListMFADeviceTags": {"SerialNumber", unknown},
	} {
		st.Refuses(action, in, 404, "NoSuchEntity", "VirtualMFADevice with serial number "+unknown+" does not exist.")
	}
	st.Fails("TagMFADevice", append(device, "Tags.member.1.Key", "aws:a", "Tags.member.1.Value", "1"), 400,
		"InvalidInput", "system tags")
}

// A policy can protect second factors by their tags.
func TestConditionsOnTagsOfMFADevices(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := apitest.RootActor(s.Endpoint(), s.Root())
	user, _ := root.User(t, "careful", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:*","Resource":"*"},
		{"Effect":"Deny","Action":"iam:DeleteVirtualMFADevice","Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/keep":"true"}}}]}`)
	for value, want := range map[string]string{"true": "AccessDenied", "false": ""} {
		made, err := user.IAM.CreateVirtualMFADevice(t.Context(), &iam.CreateVirtualMFADeviceInput{
			VirtualMFADeviceName: aws.String("keep-" + value),
			Tags:                 []types.Tag{{Key: aws.String("keep"), Value: &value}},
		})
		apitest.Must(t, made, err)
		_, err = user.IAM.DeleteVirtualMFADevice(t.Context(), &iam.DeleteVirtualMFADeviceInput{
			SerialNumber: made.VirtualMFADevice.SerialNumber,
		})
		if got := apitest.Code(err); got != want {
			t.Errorf("a device with the tag %s: %q", value, got)
		}
	}
}

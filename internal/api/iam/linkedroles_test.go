package iam_test

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

const linkedRole = "AWSServiceRoleForAutoScaling"

// Service-linked roles have the names that AWS gives them. Only their services could change them.
func TestServiceLinkedRoles(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	named, autoScaling := with{"RoleName", linkedRole}, with{"AWSServiceName", "autoscaling.amazonaws.com"}
	const trust = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Action%22%3A%5B%22sts%3AAssumeRole%22%5D%2C%22Effect%22%3A%22Allow%22%2C%22Principal%22%3A%7B%22Service%22%3A%5B%22autoscaling.amazonaws.com%22%5D%7D%7D%5D%7D"
	got := st.Does("CreateServiceLinkedRole", append(autoScaling, "Description", "d"),
		"<Path>/aws-service-role/autoscaling.amazonaws.com/</Path><RoleName>"+linkedRole+"</RoleName><RoleId>AROA",
		"<Arn>arn:aws:iam::"+account+":role/aws-service-role/autoscaling.amazonaws.com/"+linkedRole+"</Arn>",
		"<AssumeRolePolicyDocument>"+trust+"</AssumeRolePolicyDocument><Description>d</Description></Role>")
	if strings.Contains(got, "MaxSessionDuration") {
		t.Errorf("a duration that was not given: %s", got)
	}
	st.Does("GetRole", named, "<MaxSessionDuration>3600</MaxSessionDuration>")
	st.Does("CreateServiceLinkedRole", append(autoScaling, "CustomSuffix", "x"), linkedRole+"_x")
	st.Does("ListRoles", with{"PathPrefix", "/aws-service-role/"}, linkedRole+"<", linkedRole+"_x<")
	for _, tc := range []struct {
		in   with
		want string
	}{
		{autoScaling, "Service role name " + linkedRole + " has been taken in this account, please try a different suffix."},
		{with{"AWSServiceName", "es.amazonaws.com", "CustomSuffix", "x"},
			"Custom suffix is not allowed for es.amazonaws.com"},
		{with{"AWSServiceName", "none.amazonaws.com"},
			"none.amazonaws.com is not known to have service-linked roles."},
		{append(autoScaling, "CustomSuffix", strings.Repeat("x", 64)),
			"Service role name " + linkedRole + "_" + strings.Repeat("x", 64) + " is longer than 64 characters."},
	} {
		st.Refuses("CreateServiceLinkedRole", tc.in, 400, "InvalidInput", tc.want)
	}
	refuseChanges(st, named)
	st.Does("UpdateRoleDescription", append(named, "Description", "e"), "<Description>e</Description>")
	st.Does("TagRole", append(named, "Tags.member.1.Key", "k", "Tags.member.1.Value", "v"))
}

// refuseChanges makes sure that a service-linked role cannot be changed as other roles can.
func refuseChanges(st *apitest.Story, named with) {
	in := append(named, "PolicyArn", "arn:aws:iam::aws:policy/AmazonSQSFullAccess", "PolicyName", "p", "PolicyDocument",
		apitest.Allow("sqs:*", "*"), "PermissionsBoundary", "arn:aws:iam::aws:policy/AmazonSQSFullAccess")
	for _, action := range []string{
		"AttachRolePolicy", "DetachRolePolicy", "PutRolePolicy", "DeleteRolePolicy", "DeleteRole",
		"PutRolePermissionsBoundary", "DeleteRolePermissionsBoundary", "UpdateAssumeRolePolicy",
	} {
		st.Refuses(action, in, 400, "UnmodifiableEntity", "Cannot perform the operation on the protected role '"+
			linkedRole+"' - this role is only modifiable by AWS")
	}
}

// The deletion of a service-linked role is a task, which has succeeded when the role is gone.
func TestDeletionOfServiceLinkedRoles(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	st.Does("CreateServiceLinkedRole", with{"AWSServiceName", "autoscaling.amazonaws.com"})
	st.Does("CreateRole", with{"RoleName", "other", "AssumeRolePolicyDocument", apitest.Trusting(account)})
	for _, role := range []string{"other", "none"} {
		st.Refuses("DeleteServiceLinkedRole", with{"RoleName", role}, 404, "NoSuchEntity",
			"The role with name "+role+" cannot be found.")
	}
	const begin = "task/aws-service-role/autoscaling.amazonaws.com/" + linkedRole + "/"
	early := begin + "00000000-0000-0000-0000-000000000000"
	for _, id := range []string{early, "x", "task/x", "task/other/00000000-0000-0000-0000-000000000000"} {
		st.Refuses("GetServiceLinkedRoleDeletionStatus", with{"DeletionTaskId", id}, 404, "NoSuchEntity",
			"Deletion task "+id+" cannot be found.")
	}
	task := apitest.Element(st.Does("DeleteServiceLinkedRole", with{"RoleName", linkedRole},
		"<DeletionTaskId>"+begin), "DeletionTaskId")
	st.Does("GetServiceLinkedRoleDeletionStatus", with{"DeletionTaskId", task},
		"<GetServiceLinkedRoleDeletionStatusResult><Status>SUCCEEDED</Status></GetServiceLinkedRoleDeletionStatusResult>")
	st.Fails("GetRole", with{"RoleName", linkedRole}, 404, "NoSuchEntity", linkedRole)
}

// A policy can say which services' roles a user may create.
func TestPermissionForServiceLinkedRoles(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	ann := newUser(st, "ann", `{"Statement":{"Effect":"Allow","Action":"iam:CreateServiceLinkedRole","Resource":"*",`+
		`"Condition":{"StringEquals":{"iam:AWSServiceName":"ecs.amazonaws.com"}}}}`)
	ann.Does("CreateServiceLinkedRole", with{"AWSServiceName", "ecs.amazonaws.com"})
	ann.Refuses("CreateServiceLinkedRole", with{"AWSServiceName", "rds.amazonaws.com"}, 403, "AccessDenied",
		"User: arn:aws:iam::"+account+":user/ann is not authorized to perform: iam:CreateServiceLinkedRole on resource: "+
			"arn:aws:iam::"+account+":role/aws-service-role/rds.amazonaws.com/AWSServiceRoleForRDS because no "+
			"identity-based policy allows the iam:CreateServiceLinkedRole action")
}

import {
  DeactivateMFADeviceCommand,
  DeleteAccessKeyCommand,
  DeleteLoginProfileCommand,
  DeleteUserCommand,
  DeleteUserPolicyCommand,
  DetachUserPolicyCommand,
  ListAccessKeysCommand,
  ListAttachedUserPoliciesCommand,
  ListGroupsForUserCommand,
  ListMFADevicesCommand,
  ListUserPoliciesCommand,
  RemoveUserFromGroupCommand,
} from '@aws-sdk/client-iam'
import { isAbsent } from '../aws/failure'
import { iam } from '../aws/iam'

/** removeUser deletes a user with all that IAM wants to be deleted first. */
export async function removeUser(UserName: string): Promise<void> {
  const about = { UserName }
  for (const k of (await iam().send(new ListAccessKeysCommand(about))).AccessKeyMetadata ?? []) {
    await iam().send(new DeleteAccessKeyCommand({ UserName, AccessKeyId: k.AccessKeyId }))
  }
  for (const g of (await iam().send(new ListGroupsForUserCommand(about))).Groups ?? []) {
    await iam().send(new RemoveUserFromGroupCommand({ UserName, GroupName: g.GroupName }))
  }
  for (const p of (await iam().send(new ListAttachedUserPoliciesCommand(about))).AttachedPolicies ?? []) {
    await iam().send(new DetachUserPolicyCommand({ UserName, PolicyArn: p.PolicyArn }))
  }
  for (const PolicyName of (await iam().send(new ListUserPoliciesCommand(about))).PolicyNames ?? []) {
    await iam().send(new DeleteUserPolicyCommand({ UserName, PolicyName }))
  }
  for (const d of (await iam().send(new ListMFADevicesCommand(about))).MFADevices ?? []) {
    await iam().send(new DeactivateMFADeviceCommand({ UserName, SerialNumber: d.SerialNumber }))
  }
  try {
    await iam().send(new DeleteLoginProfileCommand(about))
  } catch (error) {
    if (!isAbsent(error)) {
      throw error
    }
  }
  await iam().send(new DeleteUserCommand(about))
}

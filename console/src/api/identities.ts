import {
  AddUserToGroupCommand,
  CreateAccessKeyCommand,
  CreateGroupCommand,
  CreateLoginProfileCommand,
  CreateRoleCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  DeleteGroupCommand,
  DeleteLoginProfileCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  DetachRolePolicyCommand,
  GetLoginProfileCommand,
  GetRoleCommand,
  GetUserCommand,
  ListAttachedRolePoliciesCommand,
  ListRolePoliciesCommand,
  RemoveUserFromGroupCommand,
  UpdateAccessKeyCommand,
  UpdateAssumeRolePolicyCommand,
  UpdateLoginProfileCommand,
} from '@aws-sdk/client-iam'
import { isAbsent } from '../aws/failure'
import { iam } from '../aws/iam'

// Users

/** userNamed returns a user. */
export const userNamed = async (UserName: string, abortSignal: AbortSignal) =>
  (await iam().send(new GetUserCommand({ UserName }), { abortSignal })).User

/** createUser creates a user, who may do nothing yet. */
export const createUser = (UserName: string) => iam().send(new CreateUserCommand({ UserName }))

/** createKey creates an access key of a user, and returns it with its secret, which is never shown again. */
export async function createKey(UserName: string): Promise<{ id: string; secret: string }> {
  const { AccessKey } = await iam().send(new CreateAccessKeyCommand({ UserName }))
  return { id: AccessKey?.AccessKeyId ?? '', secret: AccessKey?.SecretAccessKey ?? '' }
}

/** activateKey turns an access key on or off. */
export const activateKey = (UserName: string, AccessKeyId: string | undefined, on: boolean) =>
  iam().send(new UpdateAccessKeyCommand({ UserName, AccessKeyId, Status: on ? 'Active' : 'Inactive' }))

/** deleteKey deletes an access key. */
export const deleteKey = (UserName: string, AccessKeyId: string | undefined) =>
  iam().send(new DeleteAccessKeyCommand({ UserName, AccessKeyId }))

/** passwordOf returns since when a user has a password, or null if there is none. */
export async function passwordOf(UserName: string, abortSignal: AbortSignal) {
  try {
    return (await iam().send(new GetLoginProfileCommand({ UserName }), { abortSignal })).LoginProfile ?? null
  } catch (e) {
    if (isAbsent(e)) {
      return null
    }
    throw e
  }
}

/** setPassword gives a user a password, or another one. */
export const setPassword = (UserName: string, Password: string, had: boolean) =>
  had
    ? iam().send(new UpdateLoginProfileCommand({ UserName, Password }))
    : iam().send(new CreateLoginProfileCommand({ UserName, Password }))

/** removePassword removes a user's password. */
export const removePassword = (UserName: string) => iam().send(new DeleteLoginProfileCommand({ UserName }))

// Groups

/** createGroup creates a group of users. */
export const createGroup = (GroupName: string) => iam().send(new CreateGroupCommand({ GroupName }))

/** deleteGroup deletes a group, which has neither users nor policies. */
export const deleteGroup = (GroupName: string | undefined) => iam().send(new DeleteGroupCommand({ GroupName }))

/** addToGroup adds a user to a group. */
export const addToGroup = (UserName: string, GroupName: string) =>
  iam().send(new AddUserToGroupCommand({ UserName, GroupName }))

/** removeFromGroup removes a user from a group. */
export const removeFromGroup = (UserName: string | undefined, GroupName: string | undefined) =>
  iam().send(new RemoveUserFromGroupCommand({ UserName, GroupName }))

// Roles

/** roleNamed returns a role. */
export const roleNamed = async (RoleName: string, abortSignal: AbortSignal) =>
  (await iam().send(new GetRoleCommand({ RoleName }), { abortSignal })).Role

/** createRole creates a role that the users of an account may assume. */
export const createRole = (RoleName: string, account: string) =>
  iam().send(
    new CreateRoleCommand({
      RoleName,
      AssumeRolePolicyDocument: JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { AWS: account }, Action: 'sts:AssumeRole' }],
      }),
    }),
  )

/** setTrust sets a role's trust policy. */
export const setTrust = (RoleName: string, PolicyDocument: string) =>
  iam().send(new UpdateAssumeRolePolicyCommand({ RoleName, PolicyDocument }))

/** deleteRole deletes a role with its policies. */
export async function deleteRole(RoleName: string) {
  for (const p of (await iam().send(new ListAttachedRolePoliciesCommand({ RoleName }))).AttachedPolicies ?? []) {
    await iam().send(new DetachRolePolicyCommand({ RoleName, PolicyArn: p.PolicyArn }))
  }
  for (const PolicyName of (await iam().send(new ListRolePoliciesCommand({ RoleName }))).PolicyNames ?? []) {
    await iam().send(new DeleteRolePolicyCommand({ RoleName, PolicyName }))
  }
  await iam().send(new DeleteRoleCommand({ RoleName }))
}

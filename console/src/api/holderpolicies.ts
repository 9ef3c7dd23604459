import {
  AttachGroupPolicyCommand,
  AttachRolePolicyCommand,
  AttachUserPolicyCommand,
  DeleteGroupPolicyCommand,
  DeleteRolePolicyCommand,
  DeleteUserPolicyCommand,
  DetachGroupPolicyCommand,
  DetachRolePolicyCommand,
  DetachUserPolicyCommand,
  GetGroupPolicyCommand,
  GetRolePolicyCommand,
  GetUserPolicyCommand,
  PutGroupPolicyCommand,
  PutRolePolicyCommand,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam'
import { iam } from '../aws/iam'
import type { Holder } from './iam'

/** attachPolicy gives a user, a group or a role a managed policy. */
export function attachPolicy({ kind, name }: Holder, PolicyArn: string): Promise<unknown> {
  switch (kind) {
    case 'user':
      return iam().send(new AttachUserPolicyCommand({ UserName: name, PolicyArn }))
    case 'group':
      return iam().send(new AttachGroupPolicyCommand({ GroupName: name, PolicyArn }))
    case 'role':
      return iam().send(new AttachRolePolicyCommand({ RoleName: name, PolicyArn }))
  }
}

/** detachPolicy detaches it. */
export function detachPolicy({ kind, name }: Holder, PolicyArn: string): Promise<unknown> {
  switch (kind) {
    case 'user':
      return iam().send(new DetachUserPolicyCommand({ UserName: name, PolicyArn }))
    case 'group':
      return iam().send(new DetachGroupPolicyCommand({ GroupName: name, PolicyArn }))
    case 'role':
      return iam().send(new DetachRolePolicyCommand({ RoleName: name, PolicyArn }))
  }
}

/** putInline sets an inline policy. */
export function putInline({ kind, name }: Holder, PolicyName: string, PolicyDocument: string): Promise<unknown> {
  switch (kind) {
    case 'user':
      return iam().send(new PutUserPolicyCommand({ UserName: name, PolicyName, PolicyDocument }))
    case 'group':
      return iam().send(new PutGroupPolicyCommand({ GroupName: name, PolicyName, PolicyDocument }))
    case 'role':
      return iam().send(new PutRolePolicyCommand({ RoleName: name, PolicyName, PolicyDocument }))
  }
}

/** deleteInline deletes an inline policy. */
export function deleteInline({ kind, name }: Holder, PolicyName: string): Promise<unknown> {
  switch (kind) {
    case 'user':
      return iam().send(new DeleteUserPolicyCommand({ UserName: name, PolicyName }))
    case 'group':
      return iam().send(new DeleteGroupPolicyCommand({ GroupName: name, PolicyName }))
    case 'role':
      return iam().send(new DeleteRolePolicyCommand({ RoleName: name, PolicyName }))
  }
}

/** getInline returns the document of an inline policy. */
export async function getInline({ kind, name }: Holder, PolicyName: string): Promise<string> {
  const answer = await (kind === 'user'
    ? iam().send(new GetUserPolicyCommand({ UserName: name, PolicyName }))
    : kind === 'group'
      ? iam().send(new GetGroupPolicyCommand({ GroupName: name, PolicyName }))
      : iam().send(new GetRolePolicyCommand({ RoleName: name, PolicyName })))
  return decodeURIComponent(answer.PolicyDocument ?? '')
}

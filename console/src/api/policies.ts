import {
  CreatePolicyCommand,
  CreatePolicyVersionCommand,
  DeletePolicyCommand,
  DeletePolicyVersionCommand,
  GetPolicyCommand,
  GetPolicyVersionCommand,
  ListEntitiesForPolicyCommand,
  ListPolicyVersionsCommand,
} from '@aws-sdk/client-iam'
import { iam } from '../aws/iam'

/** createPolicy creates a managed policy. */
export const createPolicy = (PolicyName: string, PolicyDocument: string) =>
  iam().send(new CreatePolicyCommand({ PolicyName, PolicyDocument }))

/** policyAt returns a managed policy without its document. */
export const policyAt = async (PolicyArn: string) => (await iam().send(new GetPolicyCommand({ PolicyArn }))).Policy

const versionsOf = async (PolicyArn: string) =>
  (await iam().send(new ListPolicyVersionsCommand({ PolicyArn }))).Versions ?? []

const deleteVersion = (PolicyArn: string, VersionId: string | undefined) =>
  iam().send(new DeletePolicyVersionCommand({ PolicyArn, VersionId }))

/** mostVersions is how many versions a policy has at most. */
const mostVersions = 5

/** replacePolicy makes a new version of a policy the one that counts; the oldest goes if there are five. */
export async function replacePolicy(PolicyArn: string, PolicyDocument: string) {
  const versions = await versionsOf(PolicyArn)
  const oldest = versions
    .filter((v) => !v.IsDefaultVersion)
    .sort((a, b) => (a.CreateDate?.getTime() ?? 0) - (b.CreateDate?.getTime() ?? 0))[0]
  if (versions.length >= mostVersions && oldest) {
    await deleteVersion(PolicyArn, oldest.VersionId)
  }
  await iam().send(new CreatePolicyVersionCommand({ PolicyArn, PolicyDocument, SetAsDefault: true }))
}

/** currentPolicy returns the document of the version that counts now. */
export async function currentPolicy(PolicyArn: string): Promise<string> {
  return policyDocument(PolicyArn, (await policyAt(PolicyArn))?.DefaultVersionId)
}

/** policyDocument returns the document of a version. */
export async function policyDocument(PolicyArn: string, VersionId: string | undefined): Promise<string> {
  const answer = await iam().send(new GetPolicyVersionCommand({ PolicyArn, VersionId }))
  return decodeURIComponent(answer.PolicyVersion?.Document ?? '')
}

/** policyHolders returns the users, groups and roles that have a policy. */
export const policyHolders = (PolicyArn: string) => iam().send(new ListEntitiesForPolicyCommand({ PolicyArn }))

/** deletePolicy deletes a policy with its versions. */
export async function deletePolicy(PolicyArn: string) {
  for (const v of await versionsOf(PolicyArn)) {
    if (!v.IsDefaultVersion) {
      await deleteVersion(PolicyArn, v.VersionId)
    }
  }
  await iam().send(new DeletePolicyCommand({ PolicyArn }))
}

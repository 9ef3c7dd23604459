import {
  GetGroupCommand,
  ListAccessKeysCommand,
  ListAttachedGroupPoliciesCommand,
  ListAttachedRolePoliciesCommand,
  ListAttachedUserPoliciesCommand,
  ListGroupPoliciesCommand,
  ListGroupsCommand,
  ListGroupsForUserCommand,
  ListPoliciesCommand,
  ListRolePoliciesCommand,
  ListRolesCommand,
  ListUserPoliciesCommand,
  ListUsersCommand,
  type Policy,
} from '@aws-sdk/client-iam'
import { useQuery } from '@tanstack/react-query'
import { iam } from '../aws/iam'
import { keys } from './keys'

interface Page {
  Marker?: string | undefined
}

/** pages gathers the items of all pages of a list. */
async function pages<P extends Page, T>(
  ask: (marker: string | undefined) => Promise<P>,
  items: (page: P) => T[] | undefined,
): Promise<T[]> {
  const out: T[] = []
  let marker: string | undefined
  do {
    const page = await ask(marker)
    out.push(...(items(page) ?? []))
    marker = page.Marker
  } while (marker)
  return out
}

/** useUsers returns the users of the account. */
export const useUsers = () =>
  useQuery({
    queryKey: keys.users,
    queryFn: ({ signal: abortSignal }) =>
      pages(
        (Marker) => iam().send(new ListUsersCommand({ Marker }), { abortSignal }),
        (p) => p.Users,
      ),
  })

/** useGroups returns the groups of the account, or those of a user. */
export const useGroups = (UserName?: string) =>
  useQuery({
    queryKey: keys.groupsOf(UserName ?? ''),
    queryFn: ({ signal: abortSignal }) =>
      pages(
        (Marker) =>
          UserName
            ? iam().send(new ListGroupsForUserCommand({ UserName, Marker }), { abortSignal })
            : iam().send(new ListGroupsCommand({ Marker }), { abortSignal }),
        (p) => p.Groups,
      ),
  })

/** useMembers returns the users of a group. */
export const useMembers = (GroupName: string) =>
  useQuery({
    queryKey: ['iam', 'members', GroupName],
    queryFn: ({ signal: abortSignal }) =>
      pages(
        (Marker) => iam().send(new GetGroupCommand({ GroupName, Marker }), { abortSignal }),
        (p) => p.Users,
      ),
  })

/** useRoles returns the roles of the account. */
export const useRoles = () =>
  useQuery({
    queryKey: keys.roles,
    queryFn: ({ signal: abortSignal }) =>
      pages(
        (Marker) => iam().send(new ListRolesCommand({ Marker }), { abortSignal }),
        (p) => p.Roles,
      ),
  })

/** usePolicies returns the managed policies: those of the account, or AWS's as well. */
export const usePolicies = (all: boolean) =>
  useQuery({
    queryKey: [...keys.policies, all],
    queryFn: ({ signal: abortSignal }): Promise<Policy[]> =>
      pages(
        (Marker) => iam().send(new ListPoliciesCommand({ Scope: all ? 'All' : 'Local', Marker }), { abortSignal }),
        (p) => p.Policies,
      ),
  })

/** useKeys returns the access keys of a user. */
export const useKeys = (UserName: string) =>
  useQuery({
    queryKey: ['iam', 'keys', UserName],
    queryFn: ({ signal: abortSignal }) =>
      pages(
        (Marker) => iam().send(new ListAccessKeysCommand({ UserName, Marker }), { abortSignal }),
        (p) => p.AccessKeyMetadata,
      ),
  })

/** Holder is a user, group or role that a policy is attached to. */
export interface Holder {
  kind: 'user' | 'group' | 'role'
  name: string
}

/** useAttached returns the managed policies of a holder. */
export const useAttached = ({ kind, name }: Holder) =>
  useQuery({
    queryKey: ['iam', 'attached', kind, name],
    queryFn: ({ signal: abortSignal }) =>
      pages(
        (Marker) =>
          kind === 'user'
            ? iam().send(new ListAttachedUserPoliciesCommand({ UserName: name, Marker }), { abortSignal })
            : kind === 'group'
              ? iam().send(new ListAttachedGroupPoliciesCommand({ GroupName: name, Marker }), { abortSignal })
              : iam().send(new ListAttachedRolePoliciesCommand({ RoleName: name, Marker }), { abortSignal }),
        (p) => p.AttachedPolicies,
      ),
  })

/** useInline returns the names of the policies that are a holder's own. */
export const useInline = ({ kind, name }: Holder) =>
  useQuery({
    queryKey: keys.inlinePolicies(kind, name),
    queryFn: ({ signal: abortSignal }) =>
      pages(
        (Marker) =>
          kind === 'user'
            ? iam().send(new ListUserPoliciesCommand({ UserName: name, Marker }), { abortSignal })
            : kind === 'group'
              ? iam().send(new ListGroupPoliciesCommand({ GroupName: name, Marker }), { abortSignal })
              : iam().send(new ListRolePoliciesCommand({ RoleName: name, Marker }), { abortSignal }),
        (p) => p.PolicyNames,
      ),
  })

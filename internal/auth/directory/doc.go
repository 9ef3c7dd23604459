// Package directory holds the identities of every account: its users, groups and roles, their access keys, and the
// policies that set their permissions.
//
// All of it is in memory, so that reads cost nothing; every change is durable before it is seen, and seen by the next
// request. The returned records are immutable: a change makes a new one. Package iam decides what may be changed, and
// words the refusals.
//
// The records are in the control store, as JSON under these keys:
//
//	directory/entity/<id>      a user, group, role, instance profile or identity provider,
//	                           under AIDA…, AGPA…, AROA…, AIPA…, OIDC…; under REPORT<account>
//	                           when an account has asked for its credential report
//	directory/key/<key id>     an access key, its secret encrypted
//	directory/use/<id>         when and for what a key, user or role was used last
//	directory/policy/<arn>     a managed policy with its versions
//	directory/alias/<account>  the account's alias
package directory

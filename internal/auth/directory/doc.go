// Package directory holds who there is: the users, groups and roles of every
// account, their access keys, and the policies that say what they may do.
//
// All of it is in memory, so that reads cost nothing; every change is durable
// before it is seen, and seen by the next request. The records that are given
// out are never changed: a change makes a new one. Package iam decides what
// may be changed, and words the refusals.
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

// Package apitest tests the services as clients see them.
//
// A case is written once and holds in all protocols: Client makes the same call of SQS in JSON, as a Query form and as
// a Query URL, signs it, and translates the answer into its JSON form, so one list of cases serves all three. It also
// checks the common properties of every answer: request id, content type, length, namespace, the position of the fault.
// SDK is the AWS SDK for Go, for tests that do what users do.
//
// The package knows no server: a test starts one and gives it to Run, or a package's TestMain gives it to Main.
package apitest

// Package apitest tests the services as clients see them.
//
// A case is written once and holds in all protocols: Client makes the same call of SQS in JSON, as a Query form and as
// a Query URL, signs it, and translates the answer into what JSON would have said, so that one list of cases serves the
// three. Of each answer it also checks what must be so of all: request id, content type, length, namespace, the place
// of the fault. SDK is the AWS SDK for Go for tests that say what users do.
//
// The package knows no server: a test starts one and gives it to Run, or a package's TestMain gives it to Main.
package apitest

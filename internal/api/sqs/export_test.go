package sqs

import "testing"

// OperationNames returns the names of all operations.
func OperationNames(t *testing.T) (names []string) {
	for _, op := range New(Options{Catalog: newCatalog(t), Shard: &failingShard{}}).Operations() {
		names = append(names, op.Name)
	}
	return names
}

// Package torture runs a cluster of real servers, uses all of its operations, disturbs it, and judges the results.
//
// A run goes in rounds. In each, the workers of internal/proof/workload use the cluster through all of its nodes while
// episodes of trouble come and go: a few faults that overlap, and after them a calm in which the cluster recovers. Then
// everything is healed, the queues are emptied, and internal/proof/history judges every call of the round. The course
// of a round follows from the seed: the faults, their order and lengths, and what the workers choose. The timing, and
// so the outcome, depends on the cluster.
//
// The nodes are processes of their own. They know each other by the addresses of links: TCP proxies in this process,
// one for each direction between two nodes. Clients reach each node through one more link. So the network between any
// two can be cut, blocked or slowed down without any privilege. On Linux, root can give each node a network namespace
// instead of the links between nodes: then packets are dropped, even between nodes that learn each other's own
// addresses. Faults of the disk need Linux and root, too: each node then has a file system of its own.
package torture

// Package server builds Sluice out of its parts, starts and stops them in order.
//
// The parts are the stores, the shard of a machine that is alone or the node of a cluster, the keys, the services, and
// the front, which gives them to the network. The package also watches the space on the disk, and takes backups. It
// decides nothing about queues, and knows no request.
package server

// Package crash proves that what Sluice has acknowledged outlives it. It holds
// tests only.
//
// TestKill runs the real binary, loads it from all sides, kills it at random moments, and starts it again on the same
// data. TestPowerLoss does the same to a shard in this process, on a file system that forgets data that was not synced.
// Both are loaded by internal/proof/workload, which writes down every call and its outcome (acknowledged, refused, or
// unknown because the service died), and judged by internal/proof/history, with the same calls and rules for both.
// TestKillRedrive kills the server while a task moves some messages out of the middle of a queue, and
// TestLooksIntoACluster looks into queues from each node of a real cluster. TestTornAndDamaged spoils the files
// themselves. TestDiskFull and TestDiskNearlyFull leave the real binary no space on a disk of its own, which takes root
// on Linux.
//
// TestKillEncrypted is TestKill with encryption, and tries wrong files of keys between. TestEncryptedCluster kills the
// nodes of a cluster that encrypts, while its key is rotated. TestNothingReadableOnTheWire listens between nodes.
//
// TestKillContinuousBackup kills a server that makes continuous backups, and holds what is restored of several moments
// to the same verdict, from which the calls since each moment are left out.
//
// TestKillClusterBackup does the same to a cluster. It kills the node that makes the backups, and all nodes.
//
// TestDocumentedRestart restarts a cluster by the commands of docs/cluster.md, under a client that
// must not notice.
//
// TestRollingUpgrade replaces the program of each node of a cluster, from an earlier commit's to that of
// today.
//
// TestSoak does not kill the server: it uses a server for a long time, with clients
// that vanish among the others, and holds it to the same verdict; and it makes
// sure that the server does not grow meanwhile.
//
// TestLargeMessages bounds the memory that a server takes for messages of the
// largest size.
//
// These tests run only with SLUICE_TEST_LONG=1. A run can be made longer, or be repeated, from the environment:
//
//	SLUICE_TEST_CRASH_ROUNDS   how often TestKill and its kin kill the server (4), and TestDiskFull fills its disk (3)
//	SLUICE_TEST_CRASH_SEED     where the random choices begin
//	SLUICE_TEST_LARGE_ROUNDS   how often each client of TestLargeMessages does its part (1)
//	SLUICE_TEST_UPGRADE_FROM   the commit whose program TestRollingUpgrade upgrades, from 26d6fda on (44a8779)
//	SLUICE_TEST_OLD_PROGRAMS   a directory with programs that are built, each named after its commit
//	SLUICE_TEST_SOAK           how long TestSoak lasts (4s; from 1m on growth is judged)
package crash

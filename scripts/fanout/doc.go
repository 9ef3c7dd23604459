// Fanout measures what it costs to publish to topics, beside sending the same messages to
// the queues one by one.
//
// It builds the program, starts a server with a data directory of its own, and prints a
// table: for topics of 1, 10 and 100 queues, the messages that arrive in queues in a second
// and the processor time that the server takes for each, by Publish and by SendMessage.
// Every answer waits for the disk.
//
//	go run ./scripts/fanout                              # 1 KiB, raw delivery
//	go run ./scripts/fanout --envelope --size 65536
//	go run ./scripts/fanout --topics 10000 --subscriptions 10   # and then a publish among them
//
// The processor time is read from /proc: elsewhere than on Linux there is none.
package main

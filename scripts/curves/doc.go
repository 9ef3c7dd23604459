// Curves measures the performance of Sluice and draws the results.
//
//	go run ./scripts/curves                      # minutes
//	go run ./scripts/curves --rounds 3           # medians of three, with their spread
//	go run ./scripts/curves --dir /mnt/fast      # on another disk
//	go run ./scripts/curves --backlogs 10k,1M,5M # longer queues
//	go run ./scripts/curves --redraw             # draw docs/curves.json again
//
// It builds the server, and loads it with "sluice bench": every point of a curve is a load on a new server with an
// empty data directory, and a load that receives checks that each message arrived. A round goes through all points
// before the next one begins, so that drift of the machine does not look like a curve. Each point has the sync rate of
// the disk just before it, because that rate matters much and changes on shared machines.
//
// The raw results go to docs/curves.json, the picture to docs/curves.svg, and a
// table in Markdown to standard output. The picture, its titles included,
// follows from the results alone.
package main

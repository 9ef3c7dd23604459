// Dashboard draws the Grafana dashboard of deploy/grafana with the data of a real server.
//
//	go run ./scripts/dashboard                 # twelve minutes
//	go run ./scripts/dashboard --redraw        # draw docs/dashboard.json again
//
// It builds the server, uses it as some services would, whose consumers once pause and once fail, and runs the
// dashboard's own queries against a Prometheus that has scraped it. The answers go to docs/dashboard.json, the picture
// to docs/dashboard.svg. Panels look different in Grafana; queries, titles and numbers are the same.
//
// Prometheus must be installed; scripts/dev install does that.
package main

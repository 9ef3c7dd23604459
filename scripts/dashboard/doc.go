// Dashboard draws what the Grafana dashboard of deploy/grafana shows of a real server.
//
//	go run ./scripts/dashboard                 # twelve minutes
//	go run ./scripts/dashboard --redraw        # draw docs/dashboard.json again
//
// It builds the server, uses it as some services would, whose consumers once stand still and once fail, and runs the
// dashboard's own queries against a Prometheus that has scraped it. The answers go to docs/dashboard.json, the picture
// to docs/dashboard.svg. It is not Grafana that draws, so panels look otherwise there; queries, titles and numbers are
// those.
//
// Prometheus has to be installed; scripts/dev install does that.
package main

// Package console runs the console's pages in a browser against real servers. The tests themselves are in console/test,
// in JavaScript; this package starts the servers, and leaves the tests out, saying why, where Node.js, Chromium or the
// packages of console are missing. scripts/dev install gets them.
package console

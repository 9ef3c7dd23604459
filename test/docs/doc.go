// Package docs keeps the examples of the documentation true: its test runs the fenced blocks of README.md and
// docs/*.md.
//
// One bash runs the blocks of a page from top to bottom, in one empty directory, with sluice on the PATH. Variables
// and files of a block exist for the next. Meanwhile a server runs with its data in ./sluice-data, and the variables
// that it prints are set. A page that needs more says so to its readers, in a block.
//
// The language of a block decides how it is tested:
//
//	sh          the commands are run and must succeed
//	console     the lines after "$ " are run; the others are the expected output
//	json, yaml  must be valid
//	go, python, js, java
//	            must be a part of a file in examples, which is run as a whole
//	text        is ignored
//
// A comment in front of a block, which readers of the page do not see, says more:
//
//	<!-- example: not run: REASON -->   it is not run
//	<!-- example: server -->            it starts the server that the page uses from here on
//	<!-- example: server stopped -->    it is run while the server is stopped
//	<!-- example: in the source -->     it is run in the root of the source
//	<!-- example: status 1 -->          its last command ends with this status
//	<!-- example: output varies -->     its output is not compared
//	<!-- example: with NAME=VALUE -->    this variable is set meanwhile
//	<!-- example: from FILE -->         it is a part of this file
//
// Semicolons separate several of these. Of a console block, the commands' standard output is compared. The test
// replaces the server's address by a free one, and cloning the source by changing to its directory.
package docs

// Package docs keeps the examples of the documentation true: its test takes the
// fenced blocks out of README.md and docs/*.md and runs them.
//
// The blocks of a page are run from top to bottom, by one bash in one empty directory, with sluice on the PATH.
// Variables and files of a block are there for the next. A server with its data in ./sluice-data runs meanwhile, and
// the variables that it prints are set. A page that takes more says so to its readers, in a block.
//
// The meaning of a block's language:
//
//	sh          the commands are run and must succeed
//	console     the lines after "$ " are run; the others are what they must print
//	json, yaml  must be that
//	go, python, js, java
//	            must be a part of a file in examples, which is run as a whole
//	text        is not looked at
//
// A comment in front of a block says what else is to be known about it. It is
// not seen when the page is read:
//
//	<!-- example: not run: REASON -->   it is not run
//	<!-- example: server -->            it starts the server, which the page then has from here on
//	<!-- example: server stopped -->    it is run while the server is stopped
//	<!-- example: in the source -->     it is run in the root of the source
//	<!-- example: status 1 -->          its last command ends with this status
//	<!-- example: output varies -->     what it prints is not compared
//	<!-- example: with NAME=VALUE -->    this variable is set meanwhile
//	<!-- example: from FILE -->         it is a part of this file
//
// Several are separated by semicolons. Of a console block what the commands write to
// standard output is compared. The server's address is replaced by one that is
// free, and cloning the source by going to where it is.
package docs

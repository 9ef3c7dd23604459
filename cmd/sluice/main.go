// Command sluice is a message queue service that speaks Amazon SQS.
package main

import (
	"os"

	"github.com/sluicemq/sluice/internal/command"
)

func main() { os.Exit(command.Main()) }

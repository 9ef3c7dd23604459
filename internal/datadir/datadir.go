package datadir

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Names of what a data directory holds.
const (
	ControlDir      = "control"      // store of queues, users and permissions
	ShardsDir       = "shards"       // stores of messages
	TrailsDir       = "trails"       // data events of trails, until they are delivered
	LogDir          = "log"          // of the servers that a node of a cluster runs inside
	NodeFile        = "node"         // says which node of which cluster the directory belongs to
	JoiningFile     = "node.joining" // says which node it will belong to, once that has found its cluster
	CredentialsFile = "credentials"  // root access keys, in the format of the AWS credentials file
	MasterKeyFile   = "master.key"   // the secrets of users are encrypted under it
	FormatFile      = "format"       // says what a program must know to open the directory
	BackupIDFile    = "backup.id"    // tells the directory from others that back up to the same place
	RunningFile     = "running"      // is there while a server uses the directory, and after a crash
)

var names = []string{
	ControlDir,
	ShardsDir,
	TrailsDir,
	LogDir,
	NodeFile,
	JoiningFile,
	CredentialsFile,
	MasterKeyFile,
	FormatFile,
	BackupIDFile,
	RunningFile,
}

// Prepare makes the data directory dir ready for a server, before anything in it
// is opened: it makes the directory if there is none, and refuses it if it holds
// files of another program, if other users of the machine can read it, or if it
// needs a newer program.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	if err := checkOurs(dir); err != nil {
		return err
	}
	if _, err := ReadFormat(dir); err != nil {
		return err
	}
	return makePrivate(dir)
}

// checkOurs refuses a directory with files, none of which Sluice made.
func checkOurs(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read data directory: %w", err)
	}
	var foreign []string
	for _, e := range entries {
		switch name := e.Name(); {
		case slices.Contains(names, name):
			return nil
		case name != "lost+found" && !strings.HasPrefix(name, "."): // which a file system has by itself
			foreign = append(foreign, name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	const shown = 3
	list := strings.Join(foreign[:min(shown, len(foreign))], ", ")
	if len(foreign) > shown {
		list += ", ..."
	}
	return fmt.Errorf(
		"the directory %s is not empty, and no server has used it: it holds %s; give --data an empty directory or one of Sluice's",
		dir,
		list,
	)
}

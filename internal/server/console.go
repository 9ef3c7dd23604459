package server

import "github.com/sluicemq/sluice/console"

// pages returns the console's files, or nil if there is to be no console.
func (c *Config) pages() *console.Pages {
	if !c.Console {
		return nil
	}
	return console.New()
}

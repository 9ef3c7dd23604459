// Package preferences stores the preferences of accounts for text messages, which SNS calls SMS attributes: one set for
// each region of an account. The server sends no text messages. It keeps the preferences for the tools that set them
// and compare them with what they have declared.
//
// Programs that are older than this package cannot read the records: they need the format formats.Preferences.
package preferences

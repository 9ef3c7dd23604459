// Package formats numbers the formats of a data directory.
//
// A format is a number that grows when a program writes something that older programs would misread. A directory has
// the lowest format that is enough for what is in it: the program that first uses such a feature writes the number
// down before it writes anything else of the feature (datadir.Require). The number never goes down. A directory
// without the file has format First. In a cluster a program also waits until all nodes read the format.
//
// This is the only table of formats. The engine, the tables of the control store and the data directory refer to it;
// docs/upgrade.md explains it to operators, one row a number.
package formats

// The formats, by what directories of that format have, or had, and older ones have not.
const (
	First = 1
	// MoveSources has message move tasks that say which queues they may fill.
	MoveSources = 2
	// Topics has topics, copies of their messages on their way to queues, and backlogs of publications.
	Topics = 3
	// Series has what was counted of queues.
	Series = 4
	// Monitor has alarms, dashboards and metrics that programs send.
	Monitor = 5
	// Trails has trails.
	Trails = 6
	// SignIn has sessions of the console, passwords and second factors.
	SignIn = 7
	// Selections has message move tasks that select and edit messages.
	Selections = 8
	// TopicSeries has what was counted of topics.
	TopicSeries = 9
	// Idle has a record of since when it is watched which queues are used.
	Idle = 10
	// Names has the names of queues beside what was counted of them.
	Names = 11
	// Tombstones has the ids of deleted queues.
	Tombstones = 12
	// Handles is what programs read that know receipt handles in standard base64. No directory needs it.
	Handles = 13
	// Tenants has limits of accounts and users.
	Tenants = 14
	// Composites has composite alarms.
	Composites = 15
	// Encrypted has encrypted messages.
	Encrypted = 16
	// Preferences has the preferences of accounts for text messages.
	Preferences = 17
	// ClusterBackups is what programs read that know the identity of a cluster's continuous backups. No directory needs
	// it.
	ClusterBackups = 18
	// RetiredKeys is what programs read that know retired encryption keys. No directory needs it. It has the number of
	// ClusterBackups: the same version brought both.
	RetiredKeys = ClusterBackups
	// Detectors has anomaly detectors, rules of Contributor Insights, and alarms on bands of expected values.
	Detectors = 19
	// PausedGroups has queues with paused message groups.
	PausedGroups = 20
	// Sizes has how many messages of a minute had which size, for percentiles.
	Sizes = 21
	// Insights has trails with insights. The same version brought both.
	Insights = Sizes
	// PackedBackups is what programs read that know compressed objects in continuous backups. No directory needs it:
	// moments with such objects do.
	PackedBackups = 22
	// Kept has what a purge has removed and an undo can bring back.
	Kept = 23
	// Shelved has deleted queues that an undo can bring back.
	Shelved = 24
	// Mutes has alarm mute rules.
	Mutes = 25
)

// Newest is the highest format that this program reads.
const Newest = Mutes

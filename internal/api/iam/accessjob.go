package iam

import (
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"

	"github.com/google/uuid"
)

// accessJob is the subject of a job of lastAccessed. Its id has the form of a UUID:
//
//	4 bytes   when it was begun, in seconds of the epoch
//	1 byte    its kind, an index of jobPrefixes, and 0x80 if it asks by action
//	11 bytes  the 17 letters behind the prefix of the unique id, 5 bits each, and 3 bits that are 0
type accessJob struct {
	id       string // of the user, group, role or managed policy
	at       time.Time
	byAction bool
}

var jobPrefixes = []string{"AIDA", "AGPA", "AROA", "ANPA"}

const (
	jobByAction = 0x80
	idLetters   = 17
)

var jobEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// encode returns the id of the job, or false if its subject cannot have one.
func (j accessJob) encode() (string, bool) {
	var u uuid.UUID
	binary.BigEndian.PutUint32(u[:4], uint32(j.at.Unix()))
	for i, prefix := range jobPrefixes {
		letters, ok := strings.CutPrefix(j.id, prefix)
		if !ok || len(letters) != idLetters {
			continue
		}
		id, err := jobEncoding.DecodeString(letters + "A") // whose bits are 0
		if err != nil {
			return "", false
		}
		u[4] = byte(i)
		if j.byAction {
			u[4] |= jobByAction
		}
		copy(u[5:], id)
		return u.String(), true
	}
	return "", false
}

// decodeJob parses the id of a job, or returns false.
func decodeJob(text string) (accessJob, bool) {
	u, err := uuid.Parse(text)
	if err != nil || int(u[4]&^jobByAction) >= len(jobPrefixes) {
		return accessJob{}, false
	}
	letters := jobEncoding.EncodeToString(u[5:])
	return accessJob{
		id:       jobPrefixes[u[4]&^jobByAction] + letters[:idLetters],
		at:       time.Unix(int64(binary.BigEndian.Uint32(u[:4])), 0).UTC(),
		byAction: u[4]&jobByAction != 0,
	}, true
}

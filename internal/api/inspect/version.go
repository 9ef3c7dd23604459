package inspect

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// A version identifies the states of the queues in an answer of ListQueueStates, so that the next answer can omit
// unchanged queues:
//
//	format names digest...
//
// format is one byte. names is a digest of the names of all queues of the page, in order. A digest for each queue
// follows, of its whole entry in the answer. A digest is a CRC-32, four bytes.
//
// A version contains no secret and no time: each node computes the same one. Two states of a queue have the same digest
// once in four billion times; a caller then learns of the change with the next one.
type version []byte

const (
	versionFormat = 1
	digestSize    = crc32.Size
)

// versionOf returns the version of a page.
func versionOf(queues []listedQueue) (version, error) {
	v := make(version, 1+digestSize, 1+digestSize*(1+len(queues)))
	v[0] = versionFormat
	names := crc32.NewIEEE()
	for i := range queues {
		_, _ = names.Write([]byte(queues[i].QueueName + "\n"))
		text, err := json.Marshal(&queues[i])
		if err != nil {
			return nil, fmt.Errorf("version of %s: %w", queues[i].QueueName, err)
		}
		v = binary.BigEndian.AppendUint32(v, crc32.ChecksumIEEE(text))
	}
	binary.BigEndian.PutUint32(v[1:], names.Sum32())
	return v, nil
}

// parseVersion reads the version of a request. An unreadable version, made by another version of the program, counts as
// none.
func parseVersion(text string) version {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 1+digestSize || b[0] != versionFormat {
		return nil
	}
	return b
}

func (v version) String() string { return base64.RawURLEncoding.EncodeToString(v) }

// changed returns the queues of a page that have changed since an earlier version of it, or all queues if that version
// belongs to another page.
func (v version) changed(queues []listedQueue, since version) []listedQueue {
	head := 1 + digestSize
	if len(since) != len(v) || !bytes.Equal(since[:head], v[:head]) {
		return queues
	}
	out := make([]listedQueue, 0, len(queues))
	for i := range queues {
		at := head + i*digestSize
		if !bytes.Equal(since[at:at+digestSize], v[at:at+digestSize]) {
			out = append(out, queues[i])
		}
	}
	return out
}

// leaveOut removes unchanged queues from an answer: those that are equal in the answer whose version the caller has.
func (out *listQueueStatesOutput) leaveOut(since string) error {
	now, err := versionOf(out.Queues)
	if err != nil {
		return err
	}
	all := len(out.Queues)
	before := parseVersion(since)
	out.Queues = now.changed(out.Queues, before)
	out.Unchanged = int64(all - len(out.Queues))
	if !bytes.Equal(now, before) {
		out.Version = now.String()
	}
	return nil
}

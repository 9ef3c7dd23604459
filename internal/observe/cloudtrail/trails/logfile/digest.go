package logfile

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The algorithms of digests.
const (
	hashAlgorithm      = "SHA-256"
	SignatureAlgorithm = "SHA256withRSA"
)

// Metadata of a digest.
const (
	MetadataSignature = "signature"
	MetadataAlgorithm = "signature-algorithm"
)

// Entry is a file of events in a digest.
type Entry struct {
	Bucket        string    `json:"s3Bucket"`
	Key           string    `json:"s3Object"`
	Hash          string    `json:"hashValue"`
	HashAlgorithm string    `json:"hashAlgorithm"`
	Newest        time.Time `json:"newestEventTime"`
	Oldest        time.Time `json:"oldestEventTime"`
}

// Include extends the period of the file by the time of an event.
func (e *Entry) Include(at time.Time) {
	if e.Newest.IsZero() || at.After(e.Newest) {
		e.Newest = at
	}
	if e.Oldest.IsZero() || at.Before(e.Oldest) {
		e.Oldest = at
	}
}

// Digest is the content of a digest.
type Digest struct {
	Account     string     `json:"awsAccountId"`
	Start       time.Time  `json:"digestStartTime"`
	End         time.Time  `json:"digestEndTime"`
	Bucket      string     `json:"digestS3Bucket"`
	Key         string     `json:"digestS3Object"`
	Fingerprint string     `json:"digestPublicKeyFingerprint"`
	Algorithm   string     `json:"digestSignatureAlgorithm"`
	Newest      *time.Time `json:"newestEventTime"` // null without files
	Oldest      *time.Time `json:"oldestEventTime"`
	// The previous digest; null in the first of a chain.
	PreviousBucket        *string `json:"previousDigestS3Bucket"`
	PreviousKey           *string `json:"previousDigestS3Object"`
	PreviousHash          *string `json:"previousDigestHashValue"`
	PreviousHashAlgorithm *string `json:"previousDigestHashAlgorithm"`
	PreviousSignature     *string `json:"previousDigestSignature"`
	Files                 []Entry `json:"logFiles"`
}

// Link is a digest's reference to the previous one.
type Link struct{ Bucket, Key, Hash, Signature string }

// NewDigest returns a digest of files that were delivered from start to end. before is nil for the first digest of a
// chain.
func NewDigest(account, bucket, key, fingerprint string, start, end time.Time, before *Link, files []Entry) *Digest {
	d := &Digest{
		Account: account, Start: start.UTC().Truncate(time.Second), End: end.UTC().Truncate(time.Second),
		Bucket: bucket, Key: key,
		Fingerprint: fingerprint, Algorithm: SignatureAlgorithm, Files: []Entry{},
	}
	for _, f := range files {
		f.HashAlgorithm = hashAlgorithm
		d.Files = append(d.Files, f)
		if d.Newest == nil || f.Newest.After(*d.Newest) {
			d.Newest = &f.Newest
		}
		if d.Oldest == nil || f.Oldest.Before(*d.Oldest) {
			d.Oldest = &f.Oldest
		}
	}
	if before != nil {
		algorithm := hashAlgorithm
		d.PreviousBucket, d.PreviousKey = &before.Bucket, &before.Key
		d.PreviousHash, d.PreviousSignature = &before.Hash, &before.Signature
		d.PreviousHashAlgorithm = &algorithm
	}
	return d
}

// Seal returns the digest as a file, with its signature in hexadecimal digits, and the link for the next digest.
func (d *Digest) Seal(private *rsa.PrivateKey) (file []byte, link Link, err error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, link, err
	}
	hash := Hash(text)
	sum := sha256.Sum256(d.signed(hash))
	signature, err := rsa.SignPKCS1v15(nil, private, crypto.SHA256, sum[:])
	if err != nil {
		return nil, link, fmt.Errorf("sign a digest: %w", err)
	}
	return compress(text), Link{Bucket: d.Bucket, Key: d.Key, Hash: hash, Signature: hex.EncodeToString(signature)}, nil
}

// signed returns the signed text of a digest with a hash.
func (d *Digest) signed(hash string) []byte {
	previous := "null"
	if d.PreviousSignature != nil {
		previous = *d.PreviousSignature
	}
	return fmt.Appendf(nil, "%s\n%s/%s\n%s\n%s", d.End.UTC().Format(time.RFC3339), d.Bucket, d.Key, hash, previous)
}

// Open reads a digest from an object of a bucket, and verifies its signature; key returns the public key with a
// fingerprint. It returns the link that the next digest must have.
func Open(
	file []byte,
	metadata map[string]string,
	bucket, key string,
	keyOf func(fingerprint string) *rsa.PublicKey,
) (*Digest, Link, error) {
	text, err := Decompress(file)
	if err != nil {
		return nil, Link{}, err
	}
	d := new(Digest)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, Link{}, fmt.Errorf("it is no digest: %w", err)
	}
	if d.Bucket != bucket || d.Key != key {
		return nil, Link{}, errors.New("it was moved from where it was delivered")
	}
	signature, err := hex.DecodeString(metadata[MetadataSignature])
	if err != nil || len(signature) == 0 || metadata[MetadataAlgorithm] != SignatureAlgorithm {
		return nil, Link{}, errors.New("it has no signature")
	}
	public := keyOf(d.Fingerprint)
	if public == nil {
		return nil, Link{}, fmt.Errorf("there is no public key of fingerprint %.64q", d.Fingerprint)
	}
	hash := Hash(text)
	sum := sha256.Sum256(d.signed(hash))
	if err := rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature); err != nil {
		return nil, Link{}, errors.New("its signature is wrong: it was changed")
	}
	return d, Link{Bucket: bucket, Key: key, Hash: hash, Signature: metadata[MetadataSignature]}, nil
}

// Before returns the digest's link to the previous one, or nil for the first of its chain.
func (d *Digest) Before() *Link {
	if d.PreviousBucket == nil || d.PreviousKey == nil || d.PreviousHash == nil || d.PreviousSignature == nil {
		return nil
	}
	return &Link{Bucket: *d.PreviousBucket, Key: *d.PreviousKey, Hash: *d.PreviousHash, Signature: *d.PreviousSignature}
}

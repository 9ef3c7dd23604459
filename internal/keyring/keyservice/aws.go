package keyservice

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/sluicemq/sluice/internal/keyring"
)

// awsKMS is a symmetric key of AWS KMS. The server needs kms:Encrypt and kms:Decrypt for it.
type awsKMS struct {
	client      *http.Client
	key         string // id, alias or ARN
	url         string
	region      string
	credentials aws.CredentialsProvider
	signer      *v4.Signer
}

// openAWS finds credentials and the region where AWS's SDKs look for them.
func openAWS(ctx context.Context, u *url.URL) (keyring.Service, error) {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the settings of AWS's SDK: %w", err)
	}
	k := &awsKMS{
		client: newClient(nil), key: keyOf(u), region: c.Region, credentials: c.Credentials, signer: v4.NewSigner(),
		url: os.Getenv("AWS_ENDPOINT_URL_KMS"),
	}
	if parts := strings.Split(k.key, ":"); len(parts) >= 6 && parts[0] == "arn" {
		k.region = parts[3]
	}
	if r := u.Query().Get("region"); r != "" {
		k.region = r
	}
	if k.region == "" {
		return nil, errors.New("the region of AWS KMS is not known: add ?region=REGION to the URL")
	}
	if e := u.Query().Get(endpoint); e != "" {
		k.url = e
	}
	if k.url == "" {
		k.url = "https://kms." + k.region + ".amazonaws.com"
		if strings.HasPrefix(k.region, "cn-") {
			k.url += ".cn"
		}
	}
	k.url = strings.TrimSuffix(k.url, "/") + "/"
	return k, nil
}

// contextOf binds a ciphertext to a key of the ring, and names that in AWS's own log.
func contextOf(id string) map[string]string { return map[string]string{"sluice:key": id} }

// Seal implements keyring.Service.
func (k *awsKMS) Seal(ctx context.Context, id string, key []byte) ([]byte, error) {
	var out struct{ CiphertextBlob []byte }
	err := k.call(
		ctx, "Encrypt", map[string]any{"KeyId": k.key, "Plaintext": key, "EncryptionContext": contextOf(id)}, &out,
	)
	return out.CiphertextBlob, err
}

// Open implements keyring.Service.
func (k *awsKMS) Open(ctx context.Context, id string, sealed []byte) ([]byte, error) {
	var out struct{ Plaintext []byte }
	err := k.call(
		ctx, "Decrypt", map[string]any{"KeyId": k.key, "CiphertextBlob": sealed, "EncryptionContext": contextOf(id)},
		&out,
	)
	return out.Plaintext, err
}

func (k *awsKMS) call(ctx context.Context, operation string, in, out any) error {
	c := call{client: k.client, name: "AWS KMS", url: k.url, body: in, reason: awsReason}
	c.prepare = func(r *http.Request, body []byte) error {
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		r.Header.Set("X-Amz-Target", "TrentService."+operation)
		keys, err := k.credentials.Retrieve(r.Context())
		if err != nil {
			return fmt.Errorf("find the credentials: %w", err)
		}
		sum := sha256.Sum256(body)
		return k.signer.SignHTTP(r.Context(), keys, r, hex.EncodeToString(sum[:]), "kms", k.region, time.Now())
	}
	return c.do(ctx, out)
}

// awsReason returns why AWS KMS refuses, or nil if it may answer later.
func awsReason(a *answer) error {
	var e struct {
		Type string `json:"__type"`
	}
	_ = json.Unmarshal(a.body, &e) // a text of something in between has no type
	switch e.Type[strings.LastIndexByte(e.Type, '#')+1:] {
	case "NotFoundException", "IncorrectKeyException", "InvalidCiphertextException":
		return keyring.ErrNoKey
	case "DisabledException":
		return keyring.ErrDisabled
	case "KMSInvalidStateException", "InvalidKeyUsageException":
		return keyring.ErrInvalidState
	case "AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException", "SignatureDoesNotMatch",
		"MissingAuthenticationTokenException", "IncompleteSignatureException", "InvalidClientTokenId",
		"ExpiredTokenException":
		return keyring.ErrDenied
	}
	return nil
}

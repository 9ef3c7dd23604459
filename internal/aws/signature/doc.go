// Package signature proves who sent an HTTP request: it verifies AWS Signature Version 4, in the Authorization header
// and in presigned URLs, and Signature Version 2, in the query string and in form bodies.
//
//	v := new(signature.Verifier)
//	who, err := v.Verify(signature.FromHTTP(r, body), now, secretOf)
//
// # What a success means
//
// The sender had the secret of Verified.AccessKeyID, and made the signature for this host, method, path, query and for
// the signed headers as they are, within MaxSkew of now (or, in Version 2, before the request's own Expires, which is
// at most MaxExpires ahead). In Version 4 the signed headers include Host and every X-Amz-* header except
// X-Amz-Security-Token, and the body is the one that was signed, unless the signer chose to omit it by signing the word
// UNSIGNED-PAYLOAD in place of its hash; a presigned URL that omits it has no body. Version 2 signs no headers but
// Host, and no body but a form, so it is accepted only for requests of the Query protocol: with another body, or with
// an X-Amz-Target and no form, it is refused. Package form defines what a form is, here and where the request is read.
//
// It does not mean that the request is new (a signature can be replayed until it expires), that the scope names this
// service and region, or that the session token is valid: the caller checks Verified.Service, Region and Token;
// ServiceMismatch and RegionMismatch return the errors. Nothing here decides what the sender may do.
//
// # Failures
//
// Every error is an *Error, whose Kind gives the kind of mistake and whose Message is fit for the sender. A request
// without a trace of a signature yields ErrUnsigned. Traces are the Authorization header and the parameters of either
// version in the query string, and those of Version 2 in a form body that is declared as one. A request with a trace
// either verifies or fails: it never passes for unsigned. Two signatures in one request are refused rather than ranked.
//
// The checks run from cheap to expensive: syntax and the form of the scope, key, time, signature. An unknown key costs
// as much as a wrong signature, and no answer reveals what the right signature would have been.
//
// # Presigned URLs
//
// SQS ignores X-Amz-Expires: a presigned URL lives for 15 minutes around its X-Amz-Date, for every value of the
// parameter. A value outside 1 to 604800 seconds is still refused, because no AWS service would accept it.
package signature

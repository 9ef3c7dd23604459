import { Sha256 } from '@aws-crypto/sha256-browser'
import { HttpRequest } from '@smithy/protocol-http'
import { SignatureV4 } from '@smithy/signature-v4'
import { endpoint } from './place'
import type { Proof } from './session'

/**
 * proveKeys signs a call of sts:GetCallerIdentity with the keys. The server makes that call to learn their owner;
 * the secret itself stays here.
 */
export async function proveKeys(
  accessKeyId: string,
  secretAccessKey: string,
  region: string,
  token?: string,
): Promise<Proof> {
  const url = new URL(`${endpoint}/`)
  const body = 'Action=GetCallerIdentity&Version=2011-06-15'
  const signer = new SignatureV4({
    service: 'sts',
    region,
    credentials: { accessKeyId, secretAccessKey, ...(token && { sessionToken: token }) },
    sha256: Sha256,
  })
  const request = new HttpRequest({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    headers: {
      host: url.host,
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      // It says what the signature is for: a call that was signed for another purpose does not have it.
      'x-amz-sluice-sign-in': url.host,
    },
    body,
  })
  const signed = await signer.sign(request)
  return { signed: { url: url.href, headers: { ...signed.headers }, body } }
}

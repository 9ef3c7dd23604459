// How tests call the server without a browser: signed by the keys that the Go test has passed on.
import { Sha256 } from '@aws-crypto/sha256-browser'
import { SQSClient } from '@aws-sdk/client-sqs'
import { HttpRequest } from '@smithy/protocol-http'
import { SignatureV4 } from '@smithy/signature-v4'

/** endpoint is the public address of the server, with the prefix below which a proxy has it. */
export const endpoint = required('SLUICE_CONSOLE_ENDPOINT')

export const root = {
  accessKeyId: required('AWS_ACCESS_KEY_ID'),
  secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
}

const region = 'us-east-1'

function required(name) {
  const value = process.env[name]
  if (!value) {
    throw new Error(`${name} is not set: these tests are run by go test ./test/console`)
  }
  return value
}

/** sqs is an SDK's client for some keys. */
export function sqs(credentials = root) {
  return new SQSClient({ endpoint, region, credentials, useQueueUrlAsEndpoint: false })
}

async function call(credentials, service, headers, body) {
  const url = new URL(`${endpoint}/`)
  const signed = await new SignatureV4({ service, region, credentials, sha256: Sha256 }).sign(
    new HttpRequest({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      headers: { host: url.host, ...headers },
      body,
    }),
  )
  const { host: _, ...rest } = signed.headers
  const answer = await fetch(url, { method: 'POST', headers: rest, body })
  const text = await answer.text()
  if (!answer.ok) {
    throw new Error(`${answer.status} ${text}`)
  }
  return text
}

/** sluice calls one of the server's own operations. */
export async function sluice(operation, input, credentials = root) {
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `Sluice.${operation}` }
  return JSON.parse(await call(credentials, 'sluice', headers, JSON.stringify(input)))
}

/** iam calls an operation of IAM, and returns the answer's XML. */
export function iam(action, parameters) {
  const body = new URLSearchParams({ Action: action, Version: '2010-05-08', ...parameters }).toString()
  return call(root, 'iam', { 'content-type': 'application/x-www-form-urlencoded' }, body)
}

/** newUser makes a user with a policy, and returns keys of theirs. */
export async function newUser(name, statements) {
  await iam('CreateUser', { UserName: name })
  await iam('PutUserPolicy', {
    UserName: name,
    PolicyName: 'test',
    PolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: statements }),
  })
  const xml = await iam('CreateAccessKey', { UserName: name })
  const part = (tag) => new RegExp(`<${tag}>([^<]+)</${tag}>`).exec(xml)?.[1]
  return { accessKeyId: part('AccessKeyId'), secretAccessKey: part('SecretAccessKey') }
}

/** signInLink makes a link to sign in with. */
export async function signInLink(credentials = root) {
  return (await sluice('CreateSignInLink', {}, credentials)).Url
}

/** receiveAs receives from a queue as a program of that name. */
export function receiveAs(queue, agent) {
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'AmazonSQS.ReceiveMessage',
    'user-agent': agent,
  }
  return call(root, 'sqs', headers, JSON.stringify({ QueueUrl: queue }))
}

/** eventually asks again until the answer is right, and returns it. */
export async function eventually(what, ask, right) {
  const end = Date.now() + 180_000
  for (let pause = 1; ; pause = Math.min(2 * pause, 200)) {
    const answer = await ask()
    if (right(answer)) {
      return answer
    }
    if (Date.now() > end) {
      throw new Error(`${what}: for three minutes it has been ${JSON.stringify(answer)}`)
    }
    await new Promise((wait) => setTimeout(wait, pause))
  }
}

/** newAccount makes an account, and returns the keys of its root. */
export async function newAccount() {
  const made = await sluice('CreateAccount', {})
  return { accessKeyId: made.AccessKeyId, secretAccessKey: made.SecretAccessKey }
}

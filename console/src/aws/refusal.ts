import { Failure } from './failure'

/** words are why the identity provider's people were not signed in, by the codes that the server sends the browser back with. */
const words: Record<string, [title: string, text: (provider: string) => string]> = {
  Lost: [
    'The sign-in has expired',
    () => 'It started in another browser, started more than ten minutes ago, or was already used. Start again.',
  ],
  Denied: ['You were not signed in', (p) => `${p} reports that you declined, or that you may not use this console.`],
  Refused: [
    'You were not signed in',
    (p) => `The answer of ${p} could not be verified. Start again. If that does not help, see the log of the server.`,
  ],
  Unreachable: [
    'The identity provider cannot be used',
    (p) => `${p} does not answer, or does not know this server. Try again in a moment, or sign in in another way.`,
  ],
  NoName: [
    'Your name is missing',
    (p) =>
      `${p} does not provide the name or the verified e-mail address that names your session. The server's operator can choose another.`,
  ],
  NoRole: [
    'You have no role here',
    (p) => `${p} knows you, but none of your groups may use this console. The server's operator can change that.`,
  ],
  NotTrusted: [
    'You have no role here',
    (p) =>
      `Your group has a role here, but the role does not exist or does not trust ${p}. The server's operator can change that.`,
  ],
  TooManyAttempts: ['Too many attempts', () => 'Too many attempts came from your address. Try again in 15 minutes.'],
  Unavailable: ['This cannot be done at the moment', () => 'Please try again.'],
}

/** refusedByProvider returns the error for a code. Other codes come from forged links. */
export function refusedByProvider(code: string, provider = 'The identity provider'): Failure {
  const known = Object.hasOwn(words, code) ? words[code] : undefined
  const [title, text] = known ?? ['You were not signed in', () => 'Start again.']
  return new Failure(title, text(provider), 401)
}

import { Failure } from './failure'

/** words are why the identity provider's people were not signed in, by the codes that the server sends the browser back with. */
const words: Record<string, [title: string, text: (provider: string) => string]> = {
  Lost: [
    'That sign-in is over',
    () => 'It was begun in another browser or more than ten minutes ago, or it was used before. Begin once more.',
  ],
  Denied: ['You were not signed in', (p) => `${p} says that you did not agree, or that you may not use this console.`],
  Refused: [
    'You were not signed in',
    (p) =>
      `What ${p} has answered proves nothing. Begin once more; if that does not help, the log of the server says more.`,
  ],
  Unreachable: [
    'The identity provider cannot be used',
    (p) => `${p} does not answer, or does not know this server. Try again in a moment, or sign in in another way.`,
  ],
  NoName: [
    'There is no name for you',
    (p) =>
      `${p} does not give the name or the verified e-mail address that sessions are called after. The server's operator can choose another.`,
  ],
  NoRole: [
    'You have no role here',
    (p) => `${p} knows you, but none of your groups there may use this console. The server's operator can change that.`,
  ],
  NotTrusted: [
    'You have no role here',
    (p) =>
      `Your group has a role here, but the role does not exist or does not trust ${p}. The server's operator can change that.`,
  ],
  TooManyAttempts: ['Too many attempts', () => 'There were too many from your address. Try again in 15 minutes.'],
  Unavailable: ['This cannot be done at the moment', () => 'Please try again.'],
}

/** refusedByProvider returns the error for a code. Others than the server's come from made-up links. */
export function refusedByProvider(code: string, provider = 'The identity provider'): Failure {
  const known = Object.hasOwn(words, code) ? words[code] : undefined
  const [title, text] = known ?? ['You were not signed in', () => 'Begin once more.']
  return new Failure(title, text(provider), 401)
}

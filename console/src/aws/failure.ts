/** Failure is an error answer of the server. */
export class Failure extends Error {
  readonly status: number
  constructor(code: string, message: string, status: number) {
    super(message)
    this.name = code
    this.status = status
  }
}

interface Answered {
  $metadata?: { httpStatusCode?: number }
}

/** statusOf returns the HTTP status of an error's answer, or 0 if there was none. */
export function statusOf(error: unknown): number {
  return error instanceof Failure ? error.status : ((error as Answered | null)?.$metadata?.httpStatusCode ?? 0)
}

/** isDenied reports whether the caller lacks the permission for what they have asked. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && /AccessDenied|UnauthorizedOperation|AuthorizationError/.test(error.name)
}

/** isAbsent reports whether what was asked for does not exist. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof Error &&
    /NonExistentQueue|QueueDoesNotExist|NotFound|NoSuchEntity|ResourceNotFound/.test(error.name)
  )
}

/**
 * isUnanswered reports whether there was no answer: the server or the network is down. A server that is starting answers 503, and a proxy
 * before one that is down 502, 503 or 504.
 */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false
  }
  switch (statusOf(error)) {
    case 0:
      return error.name === 'TypeError' || isLate(error) || /fetch|network/i.test(error.message)
    case 503:
      return /ServiceUnavailable|NoAnswer|SyntaxError|Unknown/.test(error.name)
    default:
      return statusOf(error) === 502 || statusOf(error) === 504
  }
}

/** isLate reports whether the server did not answer in time a request that it may have received. */
export const isLate = (error: unknown): boolean => error instanceof Failure && error.name === 'NoAnswerInTime'

/** perhapsDone returns the error of a change, and says that a change without an answer may have been made. */
export function perhapsDone(error: unknown): unknown {
  const { name, message, status } = error as Failure
  return isLate(error)
    ? new Failure(name, `${message} The change may have been made: check before you repeat it.`, status)
    : error
}

/** isLost reports whether a page cannot show what it is about any more: a server that does not answer for a while takes nothing away. */
export function isLost(error: unknown, data: unknown): boolean {
  return Boolean(error) && (data === undefined || !isUnanswered(error))
}

/** isUnknownKey reports whether the server does not know the keys, or any more, that a request was signed with. */
export function isUnknownKey(error: unknown): boolean {
  return (
    error instanceof Error && /UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId|ExpiredToken/.test(error.name)
  )
}

/** missing returns the permission that a caller lacks, as far as the error names it: cloudwatch:GetMetricData. */
export function missing(error: unknown): string | undefined {
  return isDenied(error) ? /perform: (\S+)/.exec((error as Error).message)?.[1] : undefined
}

/** wordsOf returns the text of an error for people. */
export function wordsOf(error: unknown): { title: string; text: string } {
  if (!(error instanceof Error)) {
    return { title: 'The request failed', text: String(error) }
  }
  if (isDenied(error)) {
    return {
      title: 'Not permitted',
      text: `${error.message.replace(/[^.]$/, '$&.')} Ask an administrator of your account to allow it.`,
    }
  }
  if (isUnanswered(error)) {
    return {
      title: 'The server does not answer',
      text: isLate(error) ? error.message : 'It may be starting, or the network is down.',
    }
  }
  if (error.name === 'Error') {
    return { title: 'The request failed', text: error.message }
  }
  return { title: error.name.replace(/^.*[.#]/, ''), text: error.message }
}

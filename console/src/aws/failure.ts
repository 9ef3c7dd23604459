/** Failure is an error that the server has answered with. */
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

/** isDenied says whether the caller lacks the permission for what they have asked. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && /AccessDenied|UnauthorizedOperation|AuthorizationError/.test(error.name)
}

/** isAbsent says whether what was asked for does not exist. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof Error &&
    /NonExistentQueue|QueueDoesNotExist|NotFound|NoSuchEntity|ResourceNotFound/.test(error.name)
  )
}

/** wordsOf returns what to tell a person of an error. */
export function wordsOf(error: unknown): { title: string; text: string } {
  if (!(error instanceof Error)) {
    return { title: 'It did not work', text: String(error) }
  }
  if (isDenied(error)) {
    return {
      title: 'You may not do this',
      text: `${error.message} Whoever manages your account's policies can allow it.`,
    }
  }
  if (statusOf(error) === 0 && (error.name === 'TypeError' || /fetch|network/i.test(error.message))) {
    return {
      title: 'The server does not answer',
      text: 'It may be starting, or the network is gone. The page goes on trying.',
    }
  }
  if (error.name === 'Error') {
    return { title: 'It did not work', text: error.message }
  }
  return { title: error.name.replace(/^.*[.#]/, ''), text: error.message }
}

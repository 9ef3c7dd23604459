import { isDenied } from '../aws/failure'
import { sluice } from '../aws/sluice'
import type { Message } from './message'

/** Peeked is what PeekMessages answers. */
export interface Peeked {
  Messages: Message[]
  Cursor?: string
  Scanned: number
  Total: number
}

export type State = 'Visible' | 'InFlight' | 'Delayed'

export interface PeekInput {
  QueueUrl: string
  States?: State[]
  MessageIds?: string[]
  Filter?: string
  Cursor?: string
  Max?: number
}

/** peek reads messages without receiving them. A user who may not see bodies gets the messages without them. */
export async function peek(
  input: PeekInput,
  signal?: AbortSignal,
  bodies = true,
): Promise<Peeked & { withoutBodies: boolean }> {
  try {
    return {
      ...(await sluice<Peeked>('PeekMessages', { ...input, IncludeBody: bodies }, signal)),
      withoutBodies: false,
    }
  } catch (error) {
    if (!isDenied(error) || !(error instanceof Error) || !error.message.includes('PeekMessageBody')) {
      throw error
    }
    return { ...(await sluice<Peeked>('PeekMessages', { ...input, IncludeBody: false }, signal)), withoutBodies: true }
  }
}

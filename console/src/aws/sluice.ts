import { call } from './call'

const service = { name: 'sluice', target: 'Sluice' }

/** sluice calls one of the operations that are the server's own, such as PeekMessages. */
export function sluice<T>(operation: string, input: object, signal?: AbortSignal): Promise<T> {
  return call<T>(service, operation, input, signal)
}

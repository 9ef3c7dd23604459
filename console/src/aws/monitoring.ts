import { call } from './call'

const service = { name: 'monitoring', target: 'GraniteServiceVersion20100801' }

/** monitoring calls an operation of CloudWatch without the SDK's client. */
export function monitoring<T>(operation: string, input: object, signal?: AbortSignal): Promise<T> {
  return call<T>(service, operation, input, signal)
}

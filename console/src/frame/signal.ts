import { useEffect, useRef } from 'react'

/** useSignal returns a function whose signal aborts when the component is no longer shown. */
export function useSignal(): () => AbortSignal {
  const gone = useRef<AbortController>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    gone.current = controller
    return () => controller.abort()
  }, [])
  return () => gone.current?.signal ?? AbortSignal.abort()
}

import { type PointerEvent, type ReactNode, useRef, useState } from 'react'
import type { Span } from '../api/metrics'

interface BrushProps {
  span: Span
  /** choose gets the two times between which a person has drawn. Without it nothing can be drawn. */
  choose: ((a: number, b: number) => void) | undefined
  children: ReactNode
}

/** least is how many pixels have to be drawn across: less is a click. */
const least = 8

interface Drawn {
  /** left and width are of the plot, in the page. */
  left: number
  width: number
  from: number
  to: number
}

/**
 * Brush lets a person draw across a graph to see that time alone. Fingers scroll the page instead, and the keyboard has the fields of
 * the time range.
 */
export function Brush({ span, choose, children }: BrushProps) {
  const box = useRef<HTMLDivElement>(null)
  const [drawn, setDrawn] = useState<Drawn>()

  function begin(e: PointerEvent) {
    const plot = choose && e.pointerType !== 'touch' && e.button === 0 ? plotIn(box.current) : undefined
    if (plot && e.clientX >= plot.left && e.clientX <= plot.left + plot.width) {
      setDrawn({ ...plot, from: e.clientX, to: e.clientX })
    }
  }
  function move(e: PointerEvent) {
    if (!drawn) {
      return
    }
    if (e.buttons === 0) {
      setDrawn(undefined) // the button was released elsewhere
      return
    }
    const to = Math.min(Math.max(e.clientX, drawn.left), drawn.left + drawn.width)
    setDrawn({ ...drawn, to })
    if (Math.abs(to - drawn.from) >= least) {
      box.current?.setPointerCapture(e.pointerId)
    }
  }
  function end() {
    setDrawn(undefined)
    if (!drawn || Math.abs(drawn.to - drawn.from) < least) {
      return
    }
    const length = span.end.getTime() - span.start.getTime()
    const at = (x: number) => span.start.getTime() + ((x - drawn.left) / drawn.width) * length
    choose?.(at(drawn.from), at(drawn.to))
  }
  const offset = box.current?.getBoundingClientRect().left ?? 0
  return (
    <div
      ref={box}
      className={choose ? 'brush' : undefined}
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={() => setDrawn(undefined)}
    >
      {children}
      {drawn && (
        <div
          className="brushed"
          style={{ left: Math.min(drawn.from, drawn.to) - offset, width: Math.abs(drawn.to - drawn.from) }}
        />
      )}
    </div>
  )
}

/** plotIn returns where in the page the lines of a graph are drawn. The graph clips them to a rectangle of that width. */
function plotIn(box: HTMLElement | null): { left: number; width: number } | undefined {
  const svg = box?.querySelector('svg[role=application]')
  const width = Number(svg?.querySelector('clipPath rect')?.getAttribute('width'))
  return svg && width > 0 ? { left: svg.getBoundingClientRect().left, width } : undefined
}

import { memo, useMemo } from 'react'
import './map.css'
import { type Box, type Island, widthOf } from './graph'
import { boxHeight, boxWidth, lay, pathOf, shapeOf } from './layout'

/** Drawing draws an island. It is laid out again only when other boxes are connected. */
export const Drawing = memo(function Drawing({ island }: { island: Island }) {
  const shape = shapeOf(island)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape is all that counts
  const laid = useMemo(() => lay(island), [shape])
  return (
    <div className="island">
      <svg width={laid.width} height={laid.height} viewBox={`0 0 ${laid.width} ${laid.height}`}>
        <title>{`Map of ${island.boxes.map((b) => b.name).join(', ')}`.slice(0, 200)}</title>
        <g>
          {island.ways.map((way, i) => (
            <path
              key={`${way.from} ${way.to} ${way.kind}`}
              className={way.bad ? `way ${way.kind} bad` : `way ${way.kind}`}
              d={pathOf(laid.ways[i] ?? [])}
              strokeWidth={widthOf(way.rate)}
            />
          ))}
        </g>
        {island.boxes.map((box) => (
          <BoxLink key={box.id} box={box} at={laid.boxes.get(box.id) ?? { x: 0, y: 0 }} />
        ))}
      </svg>
    </div>
  )
})

function BoxLink({ box, at }: { box: Box; at: { x: number; y: number } }) {
  return (
    <foreignObject x={at.x} y={at.y} width={boxWidth} height={boxHeight}>
      <a href={box.href} className={box.bad ? `box ${box.kind} bad` : `box ${box.kind}`} title={box.name}>
        <span className="name">{box.name}</span> <span className="note">{box.note}</span>
      </a>
    </foreignObject>
  )
}

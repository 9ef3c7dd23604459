import { Graph, layout } from '@dagrejs/dagre'
import type { Island } from './graph'

/** boxWidth and boxHeight are of all boxes, in pixels. */
export const boxWidth = 200
export const boxHeight = 48

/** mostBoxes bounds what is laid out, which takes half a second for so many boxes: larger islands are lists. */
export const mostBoxes = 700

const margin = 8
const between = { boxes: 14, ranks: 70 }

/** Laid is where the boxes and the ways of an island are, in pixels. */
export interface Laid {
  width: number
  height: number
  /** boxes are the left upper corners, by id. */
  boxes: Map<string, { x: number; y: number }>
  /** ways are the points of each way, in the order of the island's. */
  ways: { x: number; y: number }[][]
}

/** shapeOf is the same for islands that are laid out alike: rates and notes change nothing. */
export function shapeOf({ boxes, ways }: Island): string {
  return JSON.stringify([boxes.map((b) => b.id), ways.map((w) => [w.from, w.to])])
}

/** lay lays an island out, from left to right as messages go. */
export function lay({ boxes, ways }: Island): Laid {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({
    rankdir: 'LR',
    ranker: 'longest-path', // half the time of the default; messages go through few boxes
    nodesep: between.boxes,
    ranksep: between.ranks,
    marginx: margin,
    marginy: margin,
  })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of boxes) {
    graph.setNode(id, { width: boxWidth, height: boxHeight })
  }
  for (const [i, { from, to }] of ways.entries()) {
    graph.setEdge(from, to, {}, `${i}`)
  }
  layout(graph)
  const { width = 0, height = 0 } = graph.graph()
  return {
    width,
    height,
    boxes: new Map(
      boxes.map(({ id }) => {
        const { x = 0, y = 0 } = graph.node(id)
        return [id, { x: x - boxWidth / 2, y: y - boxHeight / 2 }]
      }),
    ),
    ways: ways.map(({ from, to }, i) => graph.edge(from, to, `${i}`)?.points ?? []),
  }
}

/** pathOf draws a way as a smooth line through its points. */
export function pathOf(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points
  const last = rest.at(-1)
  if (!first || !last) {
    return ''
  }
  let path = `M${first.x},${first.y}`
  for (const [i, p] of rest.slice(0, -1).entries()) {
    const next = rest[i + 1] ?? last
    const end = i === rest.length - 2 ? last : { x: (p.x + next.x) / 2, y: (p.y + next.y) / 2 }
    path += `Q${p.x},${p.y} ${end.x},${end.y}`
  }
  return rest.length === 1 ? `${path}L${last.x},${last.y}` : path
}

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
  const places = new Map(
    boxes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id)
      return [id, { x: x - boxWidth / 2, y: y - boxHeight / 2 }]
    }),
  )
  const columns = [...new Set([...places.values()].map((p) => p.x))]
  return {
    width,
    height,
    boxes: places,
    ways: ways.map(({ from, to }, i) => {
      const points = graph.edge(from, to, `${i}`)?.points ?? []
      const [start, end] = [places.get(from), places.get(to)]
      // One that goes back, or to its own box, stays as it is.
      return start && end && start.x < end.x ? aside(points, start, end, columns) : points
    }),
  }
}

type Point = Laid['ways'][number][number]

/**
 * aside lets a way rise and fall only in the gaps between columns of boxes, and cross a column only where it was given room: so it
 * passes through no box.
 */
function aside(points: Point[], from: Point, to: Point, columns: number[]): Point[] {
  const crossed = points.slice(1, -1).flatMap((p) => {
    const column = columns.find((x) => x > from.x && x < to.x && p.x > x && p.x < x + boxWidth)
    return column === undefined
      ? []
      : [
          { x: column, y: p.y },
          { x: column + boxWidth, y: p.y },
        ]
  })
  const middle = boxHeight / 2
  return [{ x: from.x + boxWidth, y: from.y + middle }, ...crossed, { x: to.x, y: to.y + middle }]
}

/** pathOf draws a way as a smooth line through its points, which leaves and reaches each of them level. */
export function pathOf(points: Point[]): string {
  const [first, ...rest] = points
  if (!first || rest.length === 0) {
    return ''
  }
  let path = `M${first.x},${first.y}`
  let before = first
  for (const p of rest) {
    const half = (before.x + p.x) / 2
    path += `C${half},${before.y} ${half},${p.y} ${p.x},${p.y}`
    before = p
  }
  return path
}

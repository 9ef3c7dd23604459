import Box from '@cloudscape-design/components/box'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { Words } from '../../parts/values'
import { type Island, linesOf } from './graph'

/** MapList says in words what the map draws, for windows in which a map has no room. */
export function MapList({ islands }: { islands: Island[] }) {
  return (
    <SpaceBetween size="m">
      {islands.flatMap((island) =>
        island.boxes
          .filter((box) => box.kind === 'queue')
          .map((queue) => (
            <div key={queue.id}>
              <Box variant="h3">
                <Link href={queue.href} fontSize="inherit">
                  <Words text={queue.name} />
                </Link>
              </Box>
              {queue.bad ? <StatusIndicator type="warning">{queue.note}</StatusIndicator> : <Box>{queue.note}</Box>}
              <ul className="plain-list">
                {linesOf(island, queue).map(({ verb, box, rate, bad }) => (
                  <li key={box.id} className="break">
                    {bad && '⚠ '}
                    {verb} <Link href={box.href}>{box.kind === 'consumers' ? box.name.toLowerCase() : box.name}</Link>
                    {rate && `, ${rate}`}
                  </li>
                ))}
              </ul>
            </div>
          )),
      )}
    </SpaceBetween>
  )
}

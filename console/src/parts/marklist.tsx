import type { Mark } from '../api/marks'
import { Time } from './values'

/** MarkList says what the marks of a graph are. */
export function MarkList({ marks }: { marks: Mark[] }) {
  if (marks.length === 0) {
    return null
  }
  return (
    <ul className="marks">
      {marks.map((m) => (
        <li key={`${m.at} ${m.text}`}>
          <i className={`mark-of ${m.kind}`} /> <Time at={m.at} /> <span className="break">{m.text}</span>
        </li>
      ))}
    </ul>
  )
}

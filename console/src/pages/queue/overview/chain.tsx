import Box from '@cloudscape-design/components/box'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { nameOf, type QueueDetail } from '../../../api/queues'
import { useSources } from '../../../api/sources'
import { plural } from '../../../data/format'
import { address } from '../../../frame/router'
import { Words } from '../../../parts/values'

/** Chain shows where messages go that cannot be processed, and whose dead letters come here. */
export function Chain({ queue, state }: { queue: string; state: QueueDetail }) {
  const sources = useSources(queue)
  const names = sources.data?.names ?? []
  if (names.length === 0 && !state.DeadLetterQueueArn) {
    return null
  }
  return (
    <Container header={<Header variant="h2">Dead letters</Header>}>
      <div className="chain">
        {names.length > 0 && (
          <>
            <SpaceBetween size="xxs">
              {names.map((name) => (
                <Link key={name} href={address(['queues', name])}>
                  <Words text={name} />
                </Link>
              ))}
              {sources.data?.more && <Box>and more</Box>}
            </SpaceBetween>
            <Arrow />
          </>
        )}
        <Box variant="strong">{queue}</Box>
        {state.DeadLetterQueueArn && (
          <>
            <Arrow />
            <div>
              <Link href={address(['queues', nameOf(state.DeadLetterQueueArn)])}>
                <Words text={nameOf(state.DeadLetterQueueArn)} />
              </Link>
              {state.DeadLetters !== undefined && (
                <Box color="text-body-secondary" fontSize="body-s">
                  {plural(state.DeadLetters, 'message')}
                </Box>
              )}
            </div>
          </>
        )}
      </div>
    </Container>
  )
}

function Arrow() {
  return (
    <svg width="40" height="12" viewBox="0 0 40 12" role="img" aria-label="dead letters go to">
      <path d="M0 6h38m-6-5 6 5-6 5" fill="none" stroke="currentColor" strokeWidth="1.5" />
    </svg>
  )
}

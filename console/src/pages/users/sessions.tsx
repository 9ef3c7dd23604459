import Badge from '@cloudscape-design/components/badge'
import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import { useQuery } from '@tanstack/react-query'
import { useAction } from '../../api/useaction'
import { consoleCall } from '../../aws/session'
import { Problem } from '../../parts/problem'
import { Refresh } from '../../parts/refresh'
import { Rows } from '../../parts/rows'
import { Ago, Time, Words } from '../../parts/values'

interface Listed {
  id: string
  arn: string
  method?: string
  created?: string
  used?: string
  expires?: string
  sourceIP?: string
  userAgent?: string
  current?: boolean
}

/** methods are what the server calls the ways to sign in, in words. */
const methods: Record<string, string> = {
  link: 'Link',
  keys: 'Access key',
  password: 'Password',
  oidc: 'Identity provider',
}

function moment(at: string | undefined): number | undefined {
  return at === undefined ? undefined : Date.parse(at)
}

/** Sessions lists the console's sessions: a user's own sessions, and for the root user all of the account. */
export default function Sessions() {
  const { run } = useAction('The session was not ended')
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['sessions'],
    queryFn: async () => {
      const answer = await consoleCall<{ sessions: Listed[] }>('GET', 'sessions')
      return answer.sessions
    },
  })
  return (
    <Rows
      variant="full-page"
      loading={isPending}
      loadingText="Loading sessions"
      items={data ?? []}
      trackBy="id"
      wrapLines
      header={
        <Header
          variant="awsui-h1-sticky"
          counter={data && `(${data.length})`}
          description="Sessions of this console."
          actions={<Refresh />}
        >
          Sessions
        </Header>
      }
      columnDefinitions={[
        {
          id: 'who',
          header: 'User',
          isRowHeader: true,
          minWidth: 230,
          cell: (s) => (
            <>
              <Words text={s.arn} /> {s.current && <Badge color="blue">This session</Badge>}
            </>
          ),
        },
        { id: 'method', header: 'Signed in by', cell: (s) => methods[s.method ?? ''] ?? s.method ?? '–' },
        { id: 'from', header: 'From', cell: (s) => <span title={s.userAgent}>{s.sourceIP || '–'}</span> },
        { id: 'since', header: 'Since', cell: (s) => <Time at={moment(s.created)} /> },
        { id: 'used', header: 'Used', cell: (s) => <Ago at={moment(s.used)} /> },
        { id: 'ends', header: 'Ends', cell: (s) => <Ago at={moment(s.expires)} brief /> },
        {
          id: 'actions',
          header: 'Actions',
          minWidth: 130,
          cell: (s) =>
            s.current ? (
              '–'
            ) : (
              <Button
                variant="inline-link"
                wrapText={false}
                onClick={() =>
                  void run(async () => {
                    await consoleCall('DELETE', `sessions/${encodeURIComponent(s.id)}`)
                    await refetch()
                    return { header: 'The session was ended' }
                  })
                }
              >
                End session
              </Button>
            ),
        },
      ]}
      empty={<Problem error={error} what="The sessions cannot be listed" retry={() => void refetch()} />}
    />
  )
}

import type { Policy } from '@aws-sdk/client-iam'
import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { usePolicies } from '../../api/iam'
import { keys } from '../../api/keys'
import { currentPolicy, policyDocument, policyHolders, replacePolicy } from '../../api/policies'
import { isLost } from '../../aws/failure'
import { pretty } from '../../data/json'
import type { PageProps } from '../../frame/page'
import { address } from '../../frame/router'
import { Empty } from '../../parts/empty'
import { JSONEdit } from '../../parts/jsonedit'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { Unshown } from '../../parts/unshown'

/** PolicyPage shows one managed policy. */
export default function PolicyPage({ parameters }: PageProps) {
  const name = parameters.policy ?? ''
  const { data, error, refetch } = usePolicies(true)
  const policy = data?.find((p) => p.PolicyName === name)
  if (isLost(error, data)) {
    return (
      <Unshown name={name}>
        <Problem error={error} what="The policy cannot be shown" retry={() => void refetch()} />
      </Unshown>
    )
  }
  if (!data) {
    return <Spinner size="large" />
  }
  return policy ? (
    <Shown policy={policy} />
  ) : (
    <Unshown name={name}>
      <Empty title={`There is no policy ${name}`} action={<Button href={address(['policies'])}>All policies</Button>}>
        It may have been deleted.
      </Empty>
    </Unshown>
  )
}

function Shown({ policy }: { policy: Policy }) {
  const client = useQueryClient()
  const arn = policy.Arn ?? ''
  const aws = arn.startsWith('arn:aws:iam::aws:')
  const document = useQuery({
    queryKey: ['iam', 'policy', arn, policy.DefaultVersionId],
    queryFn: () => policyDocument(arn, policy.DefaultVersionId),
  })
  const holders = useQuery({
    queryKey: ['iam', 'holders', arn],
    queryFn: () => policyHolders(arn),
  })
  const links = [
    ...(holders.data?.PolicyUsers ?? []).map((u) => ({ kind: 'users', name: u.UserName ?? '' })),
    ...(holders.data?.PolicyGroups ?? []).map((g) => ({ kind: 'groups', name: g.GroupName ?? '' })),
    ...(holders.data?.PolicyRoles ?? []).map((r) => ({ kind: 'roles', name: r.RoleName ?? '' })),
  ]
  return (
    <SpaceBetween size="l">
      <Header variant="h1" description={policy.Description}>
        {policy.PolicyName}
      </Header>
      <Container>
        <Pairs
          columns={3}
          items={[
            { label: 'ARN', value: <span className="break">{arn}</span> },
            { label: 'Version', value: policy.DefaultVersionId ?? '–' },
            {
              label: 'Attached to',
              value:
                links.length === 0 ? (
                  'No one'
                ) : (
                  <SpaceBetween direction="horizontal" size="xs">
                    {links.map((l) => (
                      <Link key={l.kind + l.name} href={address([l.kind, l.name])}>
                        {l.name}
                      </Link>
                    ))}
                  </SpaceBetween>
                ),
            },
          ]}
        />
      </Container>
      <Container>
        {isLost(document.error, document.data) && (
          <Problem error={document.error} what="The document cannot be shown" retry={() => void document.refetch()} />
        )}
        {document.data === undefined ? (
          document.error ? undefined : (
            <Spinner />
          )
        ) : aws ? (
          <pre className="code">{pretty(document.data)}</pre>
        ) : (
          <JSONEdit
            label="Policy"
            description="Saving creates a new version and makes it the default. Five versions are kept."
            value={document.data}
            load={() => currentPolicy(arn)}
            save={async (text) => {
              await replacePolicy(arn, text)
              await client.invalidateQueries({ queryKey: keys.iam })
            }}
          />
        )}
      </Container>
    </SpaceBetween>
  )
}

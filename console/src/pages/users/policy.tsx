import {
  CreatePolicyVersionCommand,
  DeletePolicyVersionCommand,
  GetPolicyCommand,
  GetPolicyVersionCommand,
  ListEntitiesForPolicyCommand,
  ListPolicyVersionsCommand,
  type Policy,
} from '@aws-sdk/client-iam'
import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { usePolicies } from '../../api/iam'
import { keys } from '../../api/keys'
import { isLost } from '../../aws/failure'
import { iam } from '../../aws/iam'
import { pretty } from '../../data/json'
import type { PageProps } from '../../frame/page'
import { address } from '../../frame/router'
import { Empty } from '../../parts/empty'
import { JSONEdit } from '../../parts/jsonedit'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { Unshown } from '../../parts/unshown'

/** most is how many versions of a policy are kept. */
const most = 5

/** replace makes a new version of a policy the one that counts; the oldest goes if there are five. */
async function replace(PolicyArn: string, PolicyDocument: string) {
  const { Versions = [] } = await iam().send(new ListPolicyVersionsCommand({ PolicyArn }))
  const oldest = Versions.filter((v) => !v.IsDefaultVersion).sort(
    (a, b) => (a.CreateDate?.getTime() ?? 0) - (b.CreateDate?.getTime() ?? 0),
  )[0]
  if (Versions.length >= most && oldest) {
    await iam().send(new DeletePolicyVersionCommand({ PolicyArn, VersionId: oldest.VersionId }))
  }
  await iam().send(new CreatePolicyVersionCommand({ PolicyArn, PolicyDocument, SetAsDefault: true }))
}

/** current returns the document of the version that counts now. */
async function current(PolicyArn: string): Promise<string> {
  const { Policy } = await iam().send(new GetPolicyCommand({ PolicyArn }))
  return documentOf(PolicyArn, Policy?.DefaultVersionId)
}

async function documentOf(PolicyArn: string, VersionId: string | undefined): Promise<string> {
  const answer = await iam().send(new GetPolicyVersionCommand({ PolicyArn, VersionId }))
  return decodeURIComponent(answer.PolicyVersion?.Document ?? '')
}

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
    queryFn: () => documentOf(arn, policy.DefaultVersionId),
  })
  const holders = useQuery({
    queryKey: ['iam', 'holders', arn],
    queryFn: () => iam().send(new ListEntitiesForPolicyCommand({ PolicyArn: arn })),
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
        <Problem error={document.error} what="The document cannot be shown" />
        {document.data === undefined ? (
          document.error ? undefined : (
            <Spinner />
          )
        ) : aws ? (
          <pre className="code">{pretty(document.data)}</pre>
        ) : (
          <JSONEdit
            label="Policy"
            description="Saving makes a new version, which counts from then on. Five are kept."
            value={document.data}
            load={() => current(arn)}
            save={async (text) => {
              await replace(arn, text)
              await client.invalidateQueries({ queryKey: keys.iam })
            }}
          />
        )}
      </Container>
    </SpaceBetween>
  )
}

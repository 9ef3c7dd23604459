import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import { useQuery } from '@tanstack/react-query'
import { roleNamed, setTrust } from '../../api/identities'
import { isLost } from '../../aws/failure'
import { duration } from '../../data/format'
import type { PageProps } from '../../frame/page'
import { JSONEdit } from '../../parts/jsonedit'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { Unshown } from '../../parts/unshown'
import { Time } from '../../parts/values'
import { HolderPolicies } from './holderpolicies'

/** Role shows one role: its trust policy and its permissions. */
export default function Role({ parameters }: PageProps) {
  const name = parameters.role ?? ''
  const { data, error, refetch } = useQuery({
    queryKey: ['iam', 'role', name],
    queryFn: ({ signal }) => roleNamed(name, signal),
  })
  if (isLost(error, data)) {
    return (
      <Unshown name={name}>
        <Problem error={error} what="The role cannot be shown" retry={() => void refetch()} />
      </Unshown>
    )
  }
  if (!data) {
    return <Spinner size="large" />
  }
  return (
    <SpaceBetween size="l">
      <Header variant="h1" description={data.Description}>
        {name}
      </Header>
      <Container>
        <Pairs
          columns={3}
          items={[
            { label: 'ARN', value: <span className="break">{data.Arn}</span> },
            { label: 'Sessions last at most', value: duration((data.MaxSessionDuration ?? 3600) * 1000) },
            { label: 'Created', value: <Time at={data.CreateDate?.getTime()} /> },
          ]}
        />
      </Container>
      <Container header={<Header variant="h2">Trust</Header>}>
        <JSONEdit
          label="Trust policy"
          description="The principals that may assume the role."
          value={decodeURIComponent(data.AssumeRolePolicyDocument ?? '')}
          load={async () => {
            const now = await refetch({ throwOnError: true })
            return decodeURIComponent(now.data?.AssumeRolePolicyDocument ?? '')
          }}
          save={async (PolicyDocument) => {
            await setTrust(name, PolicyDocument)
            await refetch()
          }}
        />
      </Container>
      <HolderPolicies holder={{ kind: 'role', name }} />
    </SpaceBetween>
  )
}

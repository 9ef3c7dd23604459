import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import { useMembers } from '../../api/iam'
import { removeFromGroup } from '../../api/identities'
import { useAction } from '../../api/useaction'
import { isLost } from '../../aws/failure'
import type { PageProps } from '../../frame/page'
import { address } from '../../frame/router'
import { Problem } from '../../parts/problem'
import { Unshown } from '../../parts/unshown'
import { Words } from '../../parts/values'
import { HolderPolicies } from './holderpolicies'

/** Group shows one group: its users and policies. */
export default function Group({ parameters }: PageProps) {
  const { run } = useAction('The change failed')
  const name = parameters.group ?? ''
  const { data, error, refetch } = useMembers(name)
  if (isLost(error, data)) {
    return (
      <Unshown name={name}>
        <Problem error={error} what="The group cannot be shown" retry={() => void refetch()} />
      </Unshown>
    )
  }
  if (!data) {
    return <Spinner size="large" />
  }
  return (
    <SpaceBetween size="l">
      <Header variant="h1">{name}</Header>
      <Container header={<Header variant="h2">Users</Header>}>
        <SpaceBetween size="s">
          {data.length === 0 && (
            <Box color="text-body-secondary">The group has no users. Add a user to groups on the user's page.</Box>
          )}
          {data.map((u) => (
            <div key={u.UserName} className="attached">
              <Link href={address(['users', u.UserName ?? ''])}>
                <Words text={u.UserName} />
              </Link>
              <Button
                variant="inline-link"
                onClick={() =>
                  void run(async () => {
                    await removeFromGroup(u.UserName, name)
                    await refetch()
                    return undefined
                  })
                }
              >
                Remove
              </Button>
            </div>
          ))}
        </SpaceBetween>
      </Container>
      <HolderPolicies holder={{ kind: 'group', name }} />
    </SpaceBetween>
  )
}

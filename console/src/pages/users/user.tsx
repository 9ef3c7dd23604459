import Alert from '@cloudscape-design/components/alert'
import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useGroups, useKeys } from '../../api/iam'
import {
  activateKey,
  addToGroup,
  createKey,
  deleteKey,
  passwordOf,
  removeFromGroup,
  removePassword,
  setPassword,
  userNamed,
} from '../../api/identities'
import { keys } from '../../api/keys'
import { useAction } from '../../api/useaction'
import { isLost } from '../../aws/failure'
import { notify } from '../../frame/notices'
import type { PageProps } from '../../frame/page'
import { address } from '../../frame/router'
import { Copy } from '../../parts/copy'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { Rows } from '../../parts/rows'
import { Unshown } from '../../parts/unshown'
import { Time, Words } from '../../parts/values'
import { Ask } from './ask'
import { HolderPolicies } from './holderpolicies'

/** User shows one user: keys, password, groups, policies. */
export default function User({ parameters }: PageProps) {
  const name = parameters.user ?? ''
  const { data, error, refetch } = useQuery({
    queryKey: ['iam', 'user', name],
    queryFn: ({ signal }) => userNamed(name, signal),
  })
  if (isLost(error, data)) {
    return (
      <Unshown name={name}>
        <Problem error={error} what="The user cannot be shown" retry={() => void refetch()} />
      </Unshown>
    )
  }
  if (!data) {
    return <Spinner size="large" />
  }
  return (
    <SpaceBetween size="l">
      <Header variant="h1">{name}</Header>
      <Container>
        <Pairs
          columns={3}
          items={[
            { label: 'ARN', value: <Words text={data.Arn} /> },
            { label: 'User ID', value: data.UserId },
            { label: 'Created', value: <Time at={data.CreateDate?.getTime()} /> },
          ]}
        />
      </Container>
      <Keys user={name} />
      <Password user={name} />
      <Groups user={name} />
      <HolderPolicies holder={{ kind: 'user', name }} />
    </SpaceBetween>
  )
}

function Keys({ user }: { user: string }) {
  const { data, error, isPending, refetch } = useKeys(user)
  const [made, setMade] = useState<{ id: string; secret: string }>()
  const { run } = useAction('The change failed')
  const act = (f: () => Promise<unknown>) =>
    run(async () => {
      await f()
      await refetch()
      return undefined
    })
  return (
    <SpaceBetween size="s">
      {made && (
        <Alert type="success" header="Access key created" dismissible onDismiss={() => setMade(undefined)}>
          <SpaceBetween size="xs">
            <span>The secret is shown only now. Copy it, or create another key.</span>
            <pre className="code">{`AWS_ACCESS_KEY_ID=${made.id}\nAWS_SECRET_ACCESS_KEY=${made.secret}`}</pre>
            <Copy text={`AWS_ACCESS_KEY_ID=${made.id}\nAWS_SECRET_ACCESS_KEY=${made.secret}\n`} label="Copy both" />
          </SpaceBetween>
        </Alert>
      )}
      <Rows
        header={
          <Header
            variant="h2"
            counter={data && `(${data.length})`}
            actions={
              <Button
                wrapText={false}
                disabled={(data?.length ?? 0) >= 2}
                disabledReason="A user can have at most two keys."
                onClick={() =>
                  void act(async () => {
                    setMade(await createKey(user))
                  })
                }
              >
                Create access key
              </Button>
            }
          >
            Access keys
          </Header>
        }
        loading={isPending}
        items={data ?? []}
        trackBy="AccessKeyId"
        columnDefinitions={[
          { id: 'id', header: 'Access key ID', cell: (k) => k.AccessKeyId, isRowHeader: true },
          {
            id: 'status',
            header: 'Status',
            cell: (k) =>
              k.Status === 'Active' ? (
                <StatusIndicator>Active</StatusIndicator>
              ) : (
                <StatusIndicator type="stopped">Inactive</StatusIndicator>
              ),
          },
          { id: 'created', header: 'Created', cell: (k) => <Time at={k.CreateDate?.getTime()} /> },
          {
            id: 'actions',
            header: 'Actions',
            cell: (k) => (
              <SpaceBetween direction="horizontal" size="xs">
                <Button
                  variant="inline-link"
                  onClick={() => void act(() => activateKey(user, k.AccessKeyId, k.Status !== 'Active'))}
                >
                  {k.Status === 'Active' ? 'Deactivate' : 'Activate'}
                </Button>
                {k.Status !== 'Active' && (
                  <Button variant="inline-link" onClick={() => void act(() => deleteKey(user, k.AccessKeyId))}>
                    Delete
                  </Button>
                )}
              </SpaceBetween>
            ),
          },
        ]}
        empty={
          error ? <Problem error={error} retry={() => void refetch()} /> : 'No keys: programs cannot sign as this user.'
        }
      />
    </SpaceBetween>
  )
}

function Password({ user }: { user: string }) {
  const client = useQueryClient()
  const { run } = useAction('The change failed')
  const [asking, setAsking] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: keys.password(user),
    queryFn: ({ signal }) => passwordOf(user, signal),
  })
  const again = () => client.invalidateQueries({ queryKey: keys.password(user) })
  return (
    <Container
      header={
        <Header
          variant="h2"
          description="To sign in to this console. Programs use keys."
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              {data && (
                <Button
                  onClick={() =>
                    void run(async () => {
                      await removePassword(user)
                      await again()
                      return { header: `${user} can no longer sign in by password` }
                    })
                  }
                >
                  Remove password
                </Button>
              )}
              <Button onClick={() => setAsking(true)}>{data ? 'Change password' : 'Set password'}</Button>
            </SpaceBetween>
          }
        >
          Password
        </Header>
      }
    >
      {isLost(error, data) && <Problem error={error} retry={() => void refetch()} />}
      {data === null && <Box color="text-body-secondary">No password is set.</Box>}
      {data && (
        <Pairs
          columns={2}
          items={[
            { label: 'Since', value: <Time at={data.CreateDate?.getTime()} /> },
            { label: 'Change required at the next sign-in', value: data.PasswordResetRequired ? 'Yes' : 'No' },
          ]}
        />
      )}
      {asking && (
        <Ask
          title={`Password of ${user}`}
          label="New password"
          yes="Save"
          type="password"
          close={() => setAsking(false)}
          act={async (Password) => {
            await setPassword(user, Password, Boolean(data))
            notify({ header: `The password of ${user} is set` })
            await again()
          }}
        />
      )}
    </Container>
  )
}

function Groups({ user }: { user: string }) {
  const mine = useGroups(user)
  const all = useGroups()
  const [chosen, setChosen] = useState('')
  const names = (mine.data ?? []).map((g) => g.GroupName ?? '')
  const { run } = useAction('The change failed')
  const act = (f: () => Promise<unknown>) =>
    run(
      async () => {
        await f()
        return undefined
      },
      { stale: [keys.groupsOf(user)], done: () => setChosen('') },
    )
  return (
    <Container header={<Header variant="h2">Groups</Header>}>
      <SpaceBetween size="s">
        {isLost(mine.error, mine.data) && <Problem error={mine.error} retry={() => void mine.refetch()} />}
        {mine.data && names.length === 0 && <Box color="text-body-secondary">The user is in no group.</Box>}
        {names.map((GroupName) => (
          <div key={GroupName} className="attached">
            <Link href={address(['groups', GroupName])}>
              <Words text={GroupName} />
            </Link>
            <Button variant="inline-link" onClick={() => void act(() => removeFromGroup(user, GroupName))}>
              Remove
            </Button>
          </div>
        ))}
        <div className="attached">
          <Select
            ariaLabel="Group to add the user to"
            placeholder="Choose a group"
            filteringType="auto"
            empty="There are no groups"
            selectedOption={chosen ? { value: chosen, label: chosen } : null}
            options={(all.data ?? [])
              .map((g) => g.GroupName ?? '')
              .filter((g) => !names.includes(g))
              .map((value) => ({ value, label: value }))}
            onChange={({ detail }) => setChosen(detail.selectedOption.value ?? '')}
          />
          <Button disabled={!chosen} onClick={() => void act(() => addToGroup(user, chosen))}>
            Add to group
          </Button>
        </div>
      </SpaceBetween>
    </Container>
  )
}

import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import ExpandableSection from '@cloudscape-design/components/expandable-section'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { attachPolicy, deleteInline, detachPolicy, getInline, putInline } from '../../api/holderpolicies'
import { type Holder, useAttached, useInline, usePolicies } from '../../api/iam'
import { keys } from '../../api/keys'
import { useAction } from '../../api/useaction'
import { isAbsent, isLost } from '../../aws/failure'
import { named } from '../../data/names'
import { address } from '../../frame/router'
import { JSONEdit } from '../../parts/jsonedit'
import { Problem } from '../../parts/problem'
import { Words } from '../../parts/values'
import { Ask } from './ask'

/** policyExample is a policy to begin with. */
export const policyExample = `{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Effect": "Allow",
      "Action": ["sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage"],
      "Resource": "arn:aws:sqs:*:*:orders"
    }
  ]
}`

/** HolderPolicies shows what a user, a group or a role may do, and changes it. */
export function HolderPolicies({ holder }: { holder: Holder }) {
  return (
    <SpaceBetween size="l">
      <Attached holder={holder} />
      <Inline holder={holder} />
    </SpaceBetween>
  )
}

function Attached({ holder }: { holder: Holder }) {
  const { data, error, refetch } = useAttached(holder)
  const all = usePolicies(true)
  const [chosen, setChosen] = useState('')
  const attached = new Set((data ?? []).map((p) => p.PolicyArn))
  const { run } = useAction('The change failed')
  const act = (header: string, f: () => Promise<unknown>) =>
    run(
      async () => {
        await f()
        return { header }
      },
      { stale: [keys.iam], done: () => setChosen('') },
    )
  const chosenName = all.data?.find((p) => p.Arn === chosen)?.PolicyName ?? ''
  return (
    <Container header={<Header variant="h2">Managed policies</Header>}>
      <SpaceBetween size="s">
        {isLost(error, data) && (
          <Problem error={error} what="The policies cannot be shown" retry={() => void refetch()} />
        )}
        {data?.length === 0 && <Box color="text-body-secondary">No policies are attached.</Box>}
        {data?.map((p) => (
          <div key={p.PolicyArn} className="attached">
            <Link href={address(['policies', p.PolicyName ?? ''])}>
              <Words text={p.PolicyName} />
            </Link>
            <Button
              variant="inline-link"
              onClick={() => void act(`${p.PolicyName} detached`, () => detachPolicy(holder, p.PolicyArn ?? ''))}
            >
              Detach
            </Button>
          </div>
        ))}
        <div className="attached">
          <Select
            filteringType="auto"
            ariaLabel="Policy to attach"
            placeholder="Choose a policy"
            statusType={all.data ? 'finished' : all.error ? 'error' : 'loading'}
            selectedOption={chosen ? { value: chosen, label: chosenName } : null}
            options={(all.data ?? [])
              .filter((p) => !attached.has(p.Arn))
              .map((p) => ({ value: p.Arn ?? '', label: p.PolicyName ?? '', description: p.Description }))}
            onChange={({ detail }) => setChosen(detail.selectedOption.value ?? '')}
          />
          <Button
            disabled={!chosen}
            onClick={() => void act(`${chosenName} attached`, () => attachPolicy(holder, chosen))}
          >
            Attach
          </Button>
        </div>
      </SpaceBetween>
    </Container>
  )
}

function Inline({ holder }: { holder: Holder }) {
  const client = useQueryClient()
  const { data, error, refetch } = useInline(holder)
  const [asking, setAsking] = useState(false)
  const [made, setMade] = useState<string>()
  const again = () => client.invalidateQueries({ queryKey: keys.inlinePolicies(holder.kind, holder.name) })
  const names = [...(data ?? []), ...(made && !data?.includes(made) ? [made] : [])]
  return (
    <Container
      header={
        <Header variant="h2" actions={<Button onClick={() => setAsking(true)}>Add inline policy</Button>}>
          Inline policies
        </Header>
      }
    >
      <SpaceBetween size="s">
        {isLost(error, data) && (
          <Problem error={error} what="The policies cannot be shown" retry={() => void refetch()} />
        )}
        {data && names.length === 0 && <Box color="text-body-secondary">There are no inline policies.</Box>}
        {names.map((name) => (
          <InlinePolicy key={name} holder={holder} name={name} fresh={name === made} changed={again} />
        ))}
      </SpaceBetween>
      {asking && (
        <Ask
          title="Add inline policy"
          label="Policy name"
          names={named.policy}
          taken={names}
          yes="Continue"
          close={() => setAsking(false)}
          act={async (name) => setMade(name)}
        />
      )}
    </Container>
  )
}

/** current returns an inline policy as it is now, or nothing. */
async function current(holder: Holder, name: string): Promise<string> {
  try {
    return await getInline(holder, name)
  } catch (error) {
    if (isAbsent(error)) {
      return ''
    }
    throw error
  }
}

function InlinePolicy(p: { holder: Holder; name: string; fresh: boolean; changed: () => Promise<void> }) {
  const deletion = useAction('The policy was not deleted')
  const [open, setOpen] = useState(p.fresh)
  const { data, error, refetch } = useQuery({
    queryKey: ['iam', 'inline policy', p.holder.kind, p.holder.name, p.name],
    enabled: open && !p.fresh,
    queryFn: () => getInline(p.holder, p.name),
  })
  return (
    <ExpandableSection headerText={p.name} expanded={open} onChange={({ detail }) => setOpen(detail.expanded)}>
      <SpaceBetween size="s">
        <Problem error={error} retry={() => void refetch()} />
        {(data !== undefined || p.fresh) && (
          <JSONEdit
            label={`Policy ${p.name}`}
            value={data ?? ''}
            example={policyExample}
            load={() => current(p.holder, p.name)}
            save={async (text) => {
              await putInline(p.holder, p.name, text)
              await p.changed()
              await refetch()
            }}
          />
        )}
        {!p.fresh && (
          <Button
            onClick={() =>
              void deletion.run(async () => {
                await deleteInline(p.holder, p.name)
                await p.changed()
                return { header: `Policy ${p.name} deleted` }
              })
            }
          >
            Delete this policy
          </Button>
        )}
      </SpaceBetween>
    </ExpandableSection>
  )
}

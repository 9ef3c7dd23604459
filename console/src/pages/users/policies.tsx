import Link from '@cloudscape-design/components/link'
import Toggle from '@cloudscape-design/components/toggle'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePolicies } from '../../api/iam'
import { keys } from '../../api/keys'
import { createPolicy, deletePolicy } from '../../api/policies'
import { named } from '../../data/names'
import { notify } from '../../frame/notices'
import { address, go } from '../../frame/router'
import { Num, Time, Words } from '../../parts/values'
import { Ask } from './ask'
import { policyExample } from './holderpolicies'
import { List } from './list'

/** Policies lists the managed policies. */
export default function Policies() {
  const client = useQueryClient()
  const [all, setAll] = useState(false)
  const query = usePolicies(all)
  const [asking, setAsking] = useState(false)
  return (
    <>
      <List
        title="Policies"
        one="policy"
        many="policies"
        query={query}
        nameOf={(p) => p.PolicyName ?? ''}
        create={() => setAsking(true)}
        remove={(p) => deletePolicy(p.Arn ?? '')}
        removeSays="You can delete only policies without attachments, and no AWS managed policies."
        empty="A policy sets the permissions of the users, groups and roles to which it is attached."
        actions={
          <Toggle checked={all} onChange={({ detail }) => setAll(detail.checked)}>
            AWS managed
          </Toggle>
        }
        columns={[
          {
            id: 'name',
            header: 'Name',
            isRowHeader: true,
            sortingField: 'PolicyName',
            cell: (p) => (
              <Link href={address(['policies', p.PolicyName ?? ''])}>
                <Words text={p.PolicyName} />
              </Link>
            ),
          },
          { id: 'attached', header: 'Attached to', cell: (p) => <Num value={p.AttachmentCount} /> },
          { id: 'description', header: 'Description', cell: (p) => p.Description || '–' },
          { id: 'changed', header: 'Changed', cell: (p) => <Time at={p.UpdateDate?.getTime()} /> },
        ]}
      />
      {asking && (
        <Ask
          title="Create policy"
          label="Policy name"
          names={named.policy}
          taken={query.data?.map((p) => p.PolicyName)}
          yes="Create policy"
          close={() => setAsking(false)}
          act={async (PolicyName) => {
            await createPolicy(PolicyName, policyExample)
            void client.invalidateQueries({ queryKey: keys.policies })
            notify({
              header: `Policy ${PolicyName} created with an example`,
              content: 'Edit the example to set the permissions.',
            })
            go(address(['policies', PolicyName]))
          }}
        />
      )}
    </>
  )
}

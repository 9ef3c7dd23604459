import Link from '@cloudscape-design/components/link'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useGroups } from '../../api/iam'
import { createGroup, deleteGroup } from '../../api/identities'
import { keys } from '../../api/keys'
import { named } from '../../data/names'
import { notify } from '../../frame/notices'
import { address, go } from '../../frame/router'
import { Time, Words } from '../../parts/values'
import { Ask } from './ask'
import { List } from './list'

/** Groups lists the groups of the account. */
export default function Groups() {
  const client = useQueryClient()
  const query = useGroups()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <List
        title="Groups"
        one="group"
        query={query}
        nameOf={(g) => g.GroupName ?? ''}
        create={() => setAsking(true)}
        remove={(g) => deleteGroup(g.GroupName)}
        removeSays="Only groups without users and policies can be deleted."
        empty="All users of a group have the permissions of its policies."
        columns={[
          {
            id: 'name',
            header: 'Name',
            isRowHeader: true,
            sortingField: 'GroupName',
            cell: (g) => (
              <Link href={address(['groups', g.GroupName ?? ''])}>
                <Words text={g.GroupName} />
              </Link>
            ),
          },
          { id: 'created', header: 'Created', cell: (g) => <Time at={g.CreateDate?.getTime()} /> },
          { id: 'arn', header: 'ARN', cell: (g) => <Words text={g.Arn ?? ''} /> },
        ]}
      />
      {asking && (
        <Ask
          title="Create group"
          label="Group name"
          names={named.group}
          taken={query.data?.map((g) => g.GroupName)}
          yes="Create group"
          close={() => setAsking(false)}
          act={async (GroupName) => {
            await createGroup(GroupName)
            void client.invalidateQueries({ queryKey: keys.groups })
            notify({ header: `Group ${GroupName} created` })
            go(address(['groups', GroupName]))
          }}
        />
      )}
    </>
  )
}

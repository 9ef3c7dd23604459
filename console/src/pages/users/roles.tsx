import Link from '@cloudscape-design/components/link'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useRoles } from '../../api/iam'
import { createRole, deleteRole } from '../../api/identities'
import { keys } from '../../api/keys'
import { sessionNow } from '../../aws/session'
import { named } from '../../data/names'
import { notify } from '../../frame/notices'
import { address, go } from '../../frame/router'
import { Time, Words } from '../../parts/values'
import { Ask } from './ask'
import { List } from './list'

/** Roles lists the roles of the account. */
export default function Roles() {
  const client = useQueryClient()
  const query = useRoles()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <List
        title="Roles"
        one="role"
        query={query}
        nameOf={(r) => r.RoleName ?? ''}
        create={() => setAsking(true)}
        remove={(r) => deleteRole(r.RoleName ?? '')}
        removeSays="Its temporary keys end at once. Inline policies are deleted too."
        empty="The principals in a role's trust policy may assume the role. They get temporary keys with the role's permissions."
        columns={[
          {
            id: 'name',
            header: 'Name',
            isRowHeader: true,
            sortingField: 'RoleName',
            cell: (r) => (
              <Link href={address(['roles', r.RoleName ?? ''])}>
                <Words text={r.RoleName} />
              </Link>
            ),
          },
          { id: 'description', header: 'Description', cell: (r) => r.Description || '–' },
          { id: 'created', header: 'Created', cell: (r) => <Time at={r.CreateDate?.getTime()} /> },
          { id: 'arn', header: 'ARN', cell: (r) => <Words text={r.Arn ?? ''} /> },
        ]}
      />
      {asking && (
        <Ask
          title="Create role"
          label="Role name"
          names={named.role}
          taken={query.data?.map((r) => r.RoleName)}
          yes="Create role"
          close={() => setAsking(false)}
          act={async (RoleName) => {
            await createRole(RoleName, sessionNow().account)
            void client.invalidateQueries({ queryKey: keys.roles })
            notify({
              header: `Role ${RoleName} created`,
              content: 'Users of this account whose policies allow it may assume it.',
            })
            go(address(['roles', RoleName]))
          }}
        />
      )}
    </>
  )
}

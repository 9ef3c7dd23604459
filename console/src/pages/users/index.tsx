import Link from '@cloudscape-design/components/link'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useUsers } from '../../api/iam'
import { createUser } from '../../api/identities'
import { keys } from '../../api/keys'
import { removeUser } from '../../api/removeuser'
import { named } from '../../data/names'
import { notify } from '../../frame/notices'
import { address, go } from '../../frame/router'
import { Ago, Time, Words } from '../../parts/values'
import { Ask } from './ask'
import { List } from './list'

/** Users lists the users of the account. */
export default function Users() {
  const client = useQueryClient()
  const query = useUsers()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <List
        title="Users"
        one="user"
        query={query}
        nameOf={(u) => u.UserName ?? ''}
        create={() => setAsking(true)}
        remove={(u) => removeUser(u.UserName ?? '')}
        removeSays="Keys, passwords and sessions end at once. Inline policies are deleted too."
        empty="A user is a person or a program with keys of its own. Its policies set its permissions."
        columns={[
          {
            id: 'name',
            header: 'Name',
            isRowHeader: true,
            sortingField: 'UserName',
            cell: (u) => (
              <Link href={address(['users', u.UserName ?? ''])}>
                <Words text={u.UserName} />
              </Link>
            ),
          },
          { id: 'path', header: 'Path', cell: (u) => u.Path },
          { id: 'password', header: 'Signed in by password', cell: (u) => <Ago at={u.PasswordLastUsed?.getTime()} /> },
          { id: 'created', header: 'Created', cell: (u) => <Time at={u.CreateDate?.getTime()} /> },
          { id: 'arn', header: 'ARN', cell: (u) => <Words text={u.Arn ?? ''} /> },
        ]}
      />
      {asking && (
        <Ask
          title="Create user"
          label="User name"
          names={named.user}
          taken={query.data?.map((u) => u.UserName)}
          yes="Create user"
          close={() => setAsking(false)}
          act={async (UserName) => {
            await createUser(UserName)
            void client.invalidateQueries({ queryKey: keys.users })
            notify({ header: `User ${UserName} created`, content: 'The user has no permissions yet.' })
            go(address(['users', UserName]))
          }}
        />
      )}
    </>
  )
}

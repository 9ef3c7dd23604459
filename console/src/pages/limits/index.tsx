import Button from '@cloudscape-design/components/button'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useState } from 'react'
import { type Kind, kinds, type Limited, nameOf, removeLimits, useLimits } from '../../api/limits'
import { bytes, count } from '../../data/format'
import { List } from '../users/list'
import { Edit } from './edit'

/** Limits lists the accounts and users that have limits, with what they use of them. */
export default function Limits() {
  const query = useLimits()
  const [editing, setEditing] = useState<Limited | 'new'>()
  const used = kinds.filter(({ kind }) => query.data?.some((l) => l.Limits[kind] !== undefined))
  return (
    <>
      <List
        title="Limits"
        one="limit"
        query={query}
        nameOf={nameOf}
        create={() => setEditing('new')}
        remove={(l) => removeLimits(nameOf(l))}
        removeSays="The accounts and users are no longer limited."
        empty="An account without a limit can use the whole capacity of the server. The operator of the server sets limits."
        columns={[
          {
            id: 'name',
            header: 'Account or user',
            isRowHeader: true,
            cell: (l) => (
              <Button variant="inline-link" ariaLabel={`Edit the limits of ${nameOf(l)}`} onClick={() => setEditing(l)}>
                {nameOf(l)}
              </Button>
            ),
          },
          ...used.map(({ kind, label }) => ({
            id: kind,
            header: label,
            cell: (l: Limited) => <Use limited={l} kind={kind} />,
          })),
        ]}
      />
      {editing && (
        <Edit
          limited={editing === 'new' ? undefined : editing}
          all={query.data ?? []}
          close={() => setEditing(undefined)}
        />
      )}
    </>
  )
}

/** Use shows the use of a limit, and whether requests were refused. */
function Use({ limited, kind }: { limited: Limited; kind: Kind }) {
  const most = limited.Limits[kind]
  if (most === undefined) {
    return '–'
  }
  const write = kind === 'StoredBytes' ? bytes : (n: number) => count(Math.round(n))
  const refused = limited.Refused[kind] ?? 0
  const text = `${write(limited.Used[kind] ?? 0)} of ${write(most)}`
  return refused > 0 ? (
    <StatusIndicator type="warning">
      {text}, {count(refused)} refused
    </StatusIndicator>
  ) : (
    text
  )
}

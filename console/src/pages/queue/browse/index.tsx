import Alert from '@cloudscape-design/components/alert'
import SegmentedControl from '@cloudscape-design/components/segmented-control'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Toggle from '@cloudscape-design/components/toggle'
import { useCallback, useMemo, useState } from 'react'
import { useRefusals } from '../../../api/access'
import type { Message } from '../../../api/message'
import type { State } from '../../../api/peek'
import { useSources } from '../../../api/sources'
import { wordsOf } from '../../../data/filterwords'
import { later } from '../../../frame/later'
import { address, go, usePlace } from '../../../frame/router'
import { MessageDetails } from '../../../parts/message'
import { Problem } from '../../../parts/problem'
import { SavedSearches } from '../../../parts/savedsearches'
import { SearchForm } from '../../../parts/searchform'
import type { TabProps } from '../tab'
import type { Act } from './dialogs'
import { useLook } from './look'
import { Steps } from './steps'
import { MessageTable } from './table'
import { Terms } from './terms'

// With the editor and the SDK's client, which browsing does not need.
const MessageDialog = later(async () => ({ default: (await import('./dialogs')).MessageDialog }))

/** Browse shows the messages of a queue in place. Browsing changes nothing. */
export default function Browse({ queue, fifo }: TabProps) {
  const { query } = usePlace()
  const filter = query.get('filter') ?? ''
  const state = (query.get('state') ?? '') as State | ''
  const follow = query.get('follow') === '1'
  const [shown, setShown] = useState<Message>()
  const [ticked, setTicked] = useState<Message[]>([])
  const [acting, setActing] = useState<{ act: Act; messages: Message[] }>()
  const refusals = useRefusals([queue])
  const dead = (useSources(queue).data?.names.length ?? 0) > 0
  const possible = useMemo(() => ({ refusals, dead }), [refusals, dead])
  const words = useMemo(() => wordsOf(filter), [filter])
  const { error, withoutBodies, ...look } = useLook(queue, filter, state, follow)
  // A later scan makes other objects: what is no longer shown is no longer chosen.
  const chosen = useMemo(() => {
    const present = new Set(look.messages)
    return ticked.filter((m) => present.has(m))
  }, [ticked, look.messages])
  const start = useCallback((act: Act) => setActing({ act, messages: chosen }), [chosen])

  function show(changes: { filter?: string; state?: string; follow?: string }) {
    go(address(['queues', queue, 'browse'], { filter, state, follow: follow ? '1' : '', ...changes }), {
      replace: true,
    })
  }

  return (
    <SpaceBetween size="m">
      <SearchForm
        label="Search messages"
        help={
          <>
            Words, <code>body.order.id:17</code>, <code>attr.tenant:acme</code>, <code>age&gt;2h</code>,{' '}
            <code>count&gt;=3</code>, <code>size&gt;10k</code>. <Terms />
          </>
        }
        button="Search"
        variant="primary"
        filter={filter}
        busy={look.busy && !follow}
        search={(typed) => (typed === filter ? look.again() : show({ filter: typed }))}
      />
      <div className="row apart">
        <SegmentedControl
          label="Which messages"
          selectedId={state || 'all'}
          options={[
            { id: 'all', text: 'All' },
            { id: 'Visible', text: 'Available' },
            { id: 'InFlight', text: 'In flight' },
            { id: 'Delayed', text: 'Delayed' },
          ]}
          onChange={({ detail }) => show({ state: detail.selectedId === 'all' ? '' : detail.selectedId })}
        />
        <div className="row">
          <SavedSearches filter={filter} search={(saved) => show({ filter: saved })} />
          <Toggle checked={follow} onChange={({ detail }) => show({ follow: detail.checked ? '1' : '' })}>
            Follow new messages
          </Toggle>
        </div>
      </div>
      {error !== undefined && <Problem error={error} what="Not searched" retry={look.again} />}
      {withoutBodies && (
        <Alert type="info">
          Bodies are not shown: you have the permission sluice:PeekMessages, but not sluice:PeekMessageBody.
        </Alert>
      )}
      <MessageTable
        {...look}
        queue={queue}
        fifo={fifo}
        follow={follow}
        failed={error !== undefined}
        filtered={filter !== '' || state !== ''}
        open={setShown}
        words={words}
        chosen={chosen}
        choose={setTicked}
        act={start}
        possible={possible}
      />
      {shown && !acting && (
        <MessageDetails
          message={shown}
          words={words}
          close={() => setShown(undefined)}
          actions={
            <Steps
              messages={look.messages}
              shown={shown}
              show={setShown}
              possible={possible}
              act={(act) => setActing({ act, messages: [shown] })}
            />
          }
        />
      )}
      {acting && (
        <MessageDialog
          {...acting}
          queue={queue}
          close={() => setActing(undefined)}
          done={() => {
            setShown(undefined)
            setTicked([])
            look.again()
          }}
        />
      )}
    </SpaceBetween>
  )
}

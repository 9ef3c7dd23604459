import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { memo } from 'react'
import type { Message } from '../../../api/message'
import { counterOf } from '../../../data/counter'
import { download, messagesAsCSV } from '../../../data/download'
import { count, plural } from '../../../data/format'
import { address, go } from '../../../frame/router'
import { Bar } from '../../../parts/bar'
import { Empty } from '../../../parts/empty'
import { useGrowing } from '../../../parts/growing'
import { useMessageColumns } from '../../../parts/messagecolumns'
import { Rows } from '../../../parts/rows'
import type { TabProps } from '../tab'
import type { Act } from './dialogs'
import type { Look } from './look'
import { acts, type Possible } from './steps'

interface MessageTableProps extends TabProps, Look {
  follow: boolean
  /** failed says that the messages are not known. */
  failed: boolean
  /** filtered says that not all messages are wanted. */
  filtered: boolean
  open: (message: Message) => void
  /** words are marked in bodies. */
  words: string[]
  chosen: Message[]
  choose: (messages: Message[]) => void
  act: (act: Act) => void
  possible: Possible
}

/** MessageTable is what was found in a queue. Its hundreds of cells are drawn only when one of its properties changes. */
export const MessageTable = memo(function MessageTable(props: MessageTableProps) {
  const { queue, fifo, messages, scanned, total, more, busy, further, again, follow, failed, filtered, open } = props
  const { words, chosen, choose, act, possible } = props
  const columns = useMessageColumns({
    open,
    names: ['state', 'age', 'count'],
    wide: ['state', 'sent', 'count', 'size'],
    grouped: fifo,
    words,
  })
  const rows = useGrowing(messages)
  return (
    <Rows
      variant="container"
      resizableColumns
      enableKeyboardNavigation
      items={rows}
      loading={busy && messages.length === 0 && !follow}
      loadingText="Loading messages"
      selectionType="multi"
      selectedItems={chosen}
      onSelectionChange={({ detail }) => choose(detail.selectedItems)}
      ariaLabels={{
        tableLabel: 'Messages',
        selectionGroupLabel: 'Choose messages',
        allItemsSelectionLabel: () => 'Choose all messages',
        itemSelectionLabel: (_, m) => `Choose message ${m.MessageId}`,
      }}
      columnDefinitions={columns}
      header={
        <Header
          variant="h2"
          counter={counterOf({
            shown: messages.length,
            chosen: chosen.length,
            more,
            total,
            filtered,
            waits: busy && !follow,
          })}
          description="Browsing changes no receive counts and delays no consumer."
          actions={
            <Bar>
              <Button iconName="refresh" ariaLabel="Refresh messages" disabled={follow} onClick={again} />
              <ButtonDropdown
                disabled={messages.length === 0}
                items={[
                  { id: 'json', text: 'JSON', secondaryText: 'The messages of this page' },
                  { id: 'csv', text: 'CSV', secondaryText: 'The messages of this page' },
                ]}
                onItemClick={({ detail }) =>
                  detail.id === 'csv'
                    ? download(`${queue}.csv`, 'text/csv', messagesAsCSV(messages))
                    : download(`${queue}.json`, 'application/json', JSON.stringify(messages, null, 2))
                }
              >
                Download
              </ButtonDropdown>
              <ButtonDropdown
                disabled={chosen.length === 0}
                items={acts(chosen, possible)}
                onItemClick={({ detail }) => act(detail.id as Act)}
              >
                Actions
              </ButtonDropdown>
            </Bar>
          }
        >
          Messages
        </Header>
      }
      empty={
        failed ? (
          <Empty title="Nothing searched" />
        ) : follow ? (
          <Empty title="Waiting for new messages">New messages appear here, the newest first.</Empty>
        ) : filtered ? (
          <Empty title="No matches">
            {plural(scanned, 'message')} scanned.{' '}
            <Link onFollow={() => go(address(['queues', queue, 'browse']), { replace: true })}>Show all</Link>
          </Empty>
        ) : (
          <Empty title="The queue has no messages">
            <Link href={address(['queues', queue, 'messages'])}>Send one</Link> to see what it looks like here.
          </Empty>
        )
      }
      footer={
        <Box textAlign="center" color="text-body-secondary">
          {failed ? undefined : follow ? (
            <StatusIndicator type="in-progress">Following</StatusIndicator>
          ) : (
            <SpaceBetween size="xs">
              <span>
                {count(scanned)} of {plural(total, 'message')} scanned
              </span>
              {more && (
                <Button loading={busy} onClick={further}>
                  Scan more
                </Button>
              )}
            </SpaceBetween>
          )}
        </Box>
      }
    />
  )
})

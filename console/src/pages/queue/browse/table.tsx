import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import Table from '@cloudscape-design/components/table'
import { memo, useMemo } from 'react'
import { address, go } from '../../../frame/router'
import { download, messagesAsCSV } from '../../../parts/download'
import { Empty } from '../../../parts/empty'
import { count, plural } from '../../../parts/format'
import type { Message } from '../../../parts/message'
import { messageColumns } from '../../../parts/messagecolumns'
import type { TabProps } from '../tabs'
import type { Look } from './look'

interface MessageTableProps extends TabProps, Look {
  follow: boolean
  /** failed says that nobody knows what there is. */
  failed: boolean
  /** filtered says that not all messages are wanted. */
  filtered: boolean
  open: (message: Message) => void
}

/** MessageTable is what was found in a queue. Its hundreds of cells are drawn only when one of its properties changes. */
export const MessageTable = memo(function MessageTable(props: MessageTableProps) {
  const { queue, fifo, messages, scanned, total, more, busy, further, again, follow, failed, filtered, open } = props
  const columns = useMemo(
    () =>
      messageColumns(open, [
        'body',
        'state',
        'sent',
        'until',
        'count',
        'size',
        ...(fifo ? (['group'] as const) : []),
        'attributes',
      ]),
    [open, fifo],
  )
  return (
    <Table
      variant="container"
      resizableColumns
      enableKeyboardNavigation
      items={messages}
      loading={busy && messages.length === 0 && !follow}
      loadingText="Looking"
      ariaLabels={{ tableLabel: 'Messages' }}
      columnDefinitions={columns}
      header={
        <Header
          variant="h2"
          counter={`(${count(messages.length)}${more ? '+' : ''})`}
          description="Looking changes nothing: no receive count grows, and no consumer waits."
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button iconName="refresh" ariaLabel="Look again" disabled={follow} onClick={again} />
              <ButtonDropdown
                disabled={messages.length === 0}
                items={[
                  { id: 'json', text: 'JSON', secondaryText: 'What is shown here' },
                  { id: 'csv', text: 'CSV', secondaryText: 'What is shown here' },
                ]}
                onItemClick={({ detail }) =>
                  detail.id === 'csv'
                    ? download(`${queue}.csv`, 'text/csv', messagesAsCSV(messages))
                    : download(`${queue}.json`, 'application/json', JSON.stringify(messages, null, 2))
                }
              >
                Download
              </ButtonDropdown>
            </SpaceBetween>
          }
        >
          Messages
        </Header>
      }
      empty={
        failed ? (
          <Empty title="Nothing was looked at" />
        ) : follow ? (
          <Empty title="Waiting for new messages">What is sent from now on appears here, the newest first.</Empty>
        ) : filtered ? (
          <Empty title="No message is like that">
            {plural(scanned, 'message')} looked at.{' '}
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
                {count(scanned)} of {plural(total, 'message')} looked at
              </span>
              {more && (
                <Button loading={busy} onClick={further}>
                  Look further
                </Button>
              )}
            </SpaceBetween>
          )}
        </Box>
      }
    />
  )
})

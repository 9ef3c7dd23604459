import Box from '@cloudscape-design/components/box'
import Input, { type InputProps } from '@cloudscape-design/components/input'
import LiveRegion from '@cloudscape-design/components/live-region'
import Modal from '@cloudscape-design/components/modal'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { findQueues } from '../api/findqueues'
import { nameOf } from '../api/queues'
import { useTopics } from '../api/topics'
import { plural } from '../data/format'
import { actionCommands, type Command, matching, pageCommands, queueCommands, topicCommand } from './commands'
import { useFirstField } from './firstfield'
import { usePreferences } from './preferences'
import { rankedNames } from './rank'
import { match, usePlace } from './router'

/** most is how many queues and topics are offered, each. */
const most = 8

/** Palette opens a queue, a topic or a page by a few letters, or runs an action. */
export default function Palette({ close }: { close: () => void }) {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const field = useFirstField<InputProps.Ref>()
  const found = useCommands(typed.trim())
  const chosen = found[Math.min(at, found.length - 1)]
  useEffect(() => {
    document.getElementById(chosen ? idOf(chosen) : '')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])

  function run(command: Command | undefined) {
    if (command) {
      close()
      command.act()
    }
  }
  function onKeyDown(key: string): boolean {
    const n = found.length
    switch (key) {
      case 'ArrowDown':
        setAt(n === 0 ? 0 : (at + 1) % n)
        return true
      case 'ArrowUp':
        setAt(n === 0 ? 0 : (at + n - 1) % n)
        return true
      case 'Enter':
        run(chosen)
        return true
    }
    return false
  }

  return (
    <Modal visible header="Command palette" onDismiss={close}>
      <SpaceBetween size="s">
        <Input
          value={typed}
          type="search"
          ref={field}
          spellcheck={false}
          placeholder="A queue, a topic, a page, an action"
          ariaLabel="Command palette"
          nativeInputAttributes={{
            role: 'combobox',
            'aria-expanded': true,
            'aria-autocomplete': 'list',
            'aria-controls': 'palette',
            'aria-activedescendant': chosen && idOf(chosen),
          }}
          onChange={({ detail }) => {
            setTyped(detail.value)
            setAt(0)
          }}
          onKeyDown={(e) => onKeyDown(e.detail.key) && e.preventDefault()}
        />
        <div id="palette" role="listbox" aria-label="Commands" className="palette">
          {groupsOf(found).map(({ name, commands }) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of options
            <div key={name} role="group" aria-label={name}>
              <div className="palette-group" aria-hidden="true">
                {name}
              </div>
              {commands.map((command) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field above has the keys and the focus
                <div
                  key={command.id}
                  id={idOf(command)}
                  role="option"
                  aria-selected={command === chosen}
                  className="palette-option"
                  onMouseDown={(e) => e.preventDefault()}
                  onClick={() => run(command)}
                >
                  <span className="break">{command.text}</span>
                  {command.hint && (
                    <span>
                      {command.hint.split(' ').map((key) => (
                        <kbd key={key}>{key}</kbd>
                      ))}
                    </span>
                  )}
                </div>
              ))}
            </div>
          ))}
        </div>
        {found.length === 0 && <Box color="text-body-secondary">No matches</Box>}
        <LiveRegion hidden>{plural(found.length, 'result')}</LiveRegion>
      </SpaceBetween>
    </Modal>
  )
}

/** useCommands returns what fits a text, in the order in which it is shown. */
function useCommands(text: string): Command[] {
  const preferences = usePreferences()
  const { path } = usePlace()
  const here = match('/queues/:queue/:tab?', path)?.queue
  const queues = useQuery({
    queryKey: ['findQueues', text],
    queryFn: ({ signal }) => findNames(text, signal),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })
  const topics = useTopics()
  const all = [
    ...(here ? queueCommands(here, true) : []),
    ...(queues.data ?? []).flatMap((name) => queueCommands(name, false)),
    ...matching(
      (topics.data ?? []).map((arn) => topicCommand(nameOf(arn))),
      text,
    ).slice(0, text ? most : 3),
    ...pageCommands(),
    ...actionCommands(preferences),
  ]
  return groupsOf(matching(all, text)).flatMap((g) => g.commands)
}

/** asked is how many queues are asked for, of which the best are offered, and begun how many letters they have in common. */
const asked = 100
const begun = 3

/** findNames returns the names of the queues that fit a text best. If few contain it, it may have left letters out. */
async function findNames(text: string, signal: AbortSignal): Promise<string[]> {
  const names = async (part: string) => (await findQueues(part, asked, signal)).Queues.map((q) => q.QueueName)
  const found = await names(text)
  if (found.length < most && text.length > begun) {
    found.push(...(await names(text.slice(0, begun))))
  }
  return rankedNames([...new Set(found)], text).slice(0, most)
}

/** groupsOf puts the commands of a group together, the group with the best first. */
function groupsOf(commands: Command[]): { name: string; commands: Command[] }[] {
  return [...new Set(commands.map((c) => c.group))].map((name) => ({
    name,
    commands: commands.filter((c) => c.group === name),
  }))
}

function idOf(command: Command): string {
  return `palette ${command.id}`.replace(/[^\w-]/g, (c) => `_${c.codePointAt(0)}_`)
}

import Checkbox from '@cloudscape-design/components/checkbox'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { type Choice, TopicChoice } from '../../parts/topicchoice'

/** Notified is what happens when an alarm changes its state. Composite alarms never lack data. */
export interface Notified {
  firing: Choice
  fine: Choice
  lacking?: Choice
  enabled: boolean
}

interface NotificationProps {
  draft: Notified
  set: (part: Partial<Notified>) => void
  /** tried says that mistakes are shown. */
  tried: boolean
}

const states = [
  { key: 'firing', text: 'in alarm' },
  { key: 'fine', text: 'OK again' },
  { key: 'lacking', text: 'insufficient data' },
] as const

/** Notification is the part of a form that says which topics an alarm notifies. */
export function Notification({ draft, set, tried }: NotificationProps) {
  return (
    <Container header={<Header variant="h2">Notification</Header>}>
      <SpaceBetween size="l">
        {states.map(({ key, text }) => {
          const choice = draft[key]
          return (
            choice && (
              <TopicChoice
                key={key}
                label={`Whenever this alarm is: ${text}`}
                choice={choice}
                change={(next) => set({ [key]: next })}
                showErrors={tried}
              />
            )
          )
        })}
        <Checkbox checked={draft.enabled} onChange={({ detail }) => set({ enabled: detail.checked })}>
          Actions are enabled
        </Checkbox>
      </SpaceBetween>
    </Container>
  )
}

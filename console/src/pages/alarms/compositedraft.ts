import type { PutCompositeAlarmCommandInput } from '@aws-sdk/client-cloudwatch'
import type { AnyAlarm } from '../../api/alarm'
import { wrongAlarmName } from '../../data/names'
import { noTopic, topicChoice } from '../../parts/topicchoice'

/** CompositeDraft is a composite alarm as it is typed. */
export interface CompositeDraft {
  name: string
  description: string
  rule: string
  suppressor: string
  wait: string
  extension: string
  firing: typeof noTopic
  fine: typeof noTopic
  enabled: boolean
  /** others are actions that the form does not show, which it leaves alone. */
  others: { firing: string[]; fine: string[]; lacking: string[] }
  /** kept is the rest of the alarm, which the form leaves alone: a save replaces all that an alarm has. */
  kept: Pick<PutCompositeAlarmCommandInput, 'ActionConfiguration'>
}

/** quoted writes the name of an alarm as a rule has it. */
const quoted = (name: string) => `"${name.replace(/["\\]/g, '\\$&')}"`

/** blankComposite is a draft about alarms, which it joins by OR. */
export function blankComposite(of: string[]): CompositeDraft {
  return {
    name: '',
    description: '',
    rule: of.map((name) => `ALARM(${quoted(name)})`).join(' OR\n'),
    suppressor: '',
    wait: '60',
    extension: '60',
    firing: noTopic,
    fine: noTopic,
    enabled: true,
    others: { firing: [], fine: [], lacking: [] },
    kept: {},
  }
}

/** compositeDraftOf returns the draft of an alarm. */
export function compositeDraftOf(alarm: AnyAlarm): CompositeDraft {
  return {
    name: alarm.AlarmName ?? '',
    description: alarm.AlarmDescription ?? '',
    rule: alarm.AlarmRule ?? '',
    suppressor: alarm.ActionsSuppressor ?? '',
    wait: String(alarm.ActionsSuppressorWaitPeriod ?? 60),
    extension: String(alarm.ActionsSuppressorExtensionPeriod ?? 60),
    firing: topicChoice(alarm.AlarmActions?.[0]),
    fine: topicChoice(alarm.OKActions?.[0]),
    enabled: alarm.ActionsEnabled !== false,
    others: {
      firing: alarm.AlarmActions?.slice(1) ?? [],
      fine: alarm.OKActions?.slice(1) ?? [],
      lacking: alarm.InsufficientDataActions ?? [],
    },
    kept: { ActionConfiguration: alarm.ActionConfiguration },
  }
}

/** wrongInComposite says what is wrong with each field of a draft. The server reads the rule. */
export function wrongInComposite(d: CompositeDraft): Partial<Record<keyof CompositeDraft, string>> {
  const seconds = (text: string) => (/^\d{1,9}$/.test(text.trim()) ? '' : 'The period is a number of seconds.')
  const found = {
    name: wrongAlarmName(d.name) ?? '',
    rule: d.rule.trim() === '' ? 'Give the alarm a rule.' : d.rule.length > 10_240 ? 'At most 10,240 characters.' : '',
    wait: d.suppressor ? seconds(d.wait) : '',
    extension: d.suppressor ? seconds(d.extension) : '',
  }
  return Object.fromEntries(Object.entries(found).filter(([, wrong]) => wrong))
}

/** compositeOf makes a draft into what the server takes. */
export function compositeOf(
  d: CompositeDraft,
  topics: { firing: string; fine: string },
): PutCompositeAlarmCommandInput {
  const actions = (topic: string, others: string[]) => (topic ? [topic, ...others] : others)
  return {
    ...d.kept,
    AlarmName: d.name,
    AlarmDescription: d.description || undefined,
    AlarmRule: d.rule,
    ...(d.suppressor && {
      ActionsSuppressor: d.suppressor,
      ActionsSuppressorWaitPeriod: Number(d.wait),
      ActionsSuppressorExtensionPeriod: Number(d.extension),
    }),
    ActionsEnabled: d.enabled,
    AlarmActions: actions(topics.firing, d.others.firing),
    OKActions: actions(topics.fine, d.others.fine),
    InsufficientDataActions: d.others.lacking,
  }
}

import FormField from '@cloudscape-design/components/form-field'
import Input, { type InputProps } from '@cloudscape-design/components/input'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '../../api/keys'
import { type Kind, kinds, type Limited, nameOf, setLimits } from '../../api/limits'
import { useAction } from '../../api/useaction'
import { useFirstField } from '../../frame/firstfield'
import { Dialog } from '../../parts/dialog'

interface EditProps {
  limited: Limited | undefined
  /** all are the limits that there are. */
  all: readonly Limited[]
  close: () => void
}

/** Edit is the dialog for the limits of an account or user, which may be new. An empty field stands for no limit. */
export function Edit({ limited, all, close }: EditProps) {
  const client = useQueryClient()
  const had = limited?.Limits ?? {}
  const [name, setName] = useState(limited ? nameOf(limited) : '')
  const [texts, setTexts] = useState<Partial<Record<Kind, string>>>(() =>
    Object.fromEntries(Object.entries(had).map(([kind, n]) => [kind, String(n)])),
  )
  const { busy, error, run } = useAction()
  const field = useFirstField<InputProps.Ref>()
  const isUser = name.includes('/')
  const shown = kinds.filter((k) => !isUser || k.ofUsers)
  const wrong = shown.filter((k) => !isLimit(texts[k.kind]))
  const taken = !limited && all.some((l) => nameOf(l) === name.trim())
  const ready = !taken && /^\d{12}(\/.+)?$/.test(name.trim()) && wrong.length === 0
  async function submit() {
    if (!ready) {
      return
    }
    await run(
      async () => {
        const limits: Partial<Record<Kind, number>> = {}
        for (const { kind } of shown) {
          const text = texts[kind]?.trim()
          if (text) {
            limits[kind] = Number(text)
          }
        }
        try {
          await setLimits(name.trim(), limits, had)
        } finally {
          void client.invalidateQueries({ queryKey: keys.limits }) // some may be set
        }
        return { header: `Limits of ${name.trim()} set` }
      },
      { done: close },
    )
  }
  return (
    <Dialog
      title={limited ? `Limits of ${nameOf(limited)}` : 'Create limit'}
      yes="Set limits"
      act={submit}
      close={close}
      busy={busy}
      ready={ready}
      error={error}
    >
      {!limited && (
        <FormField
          label="Account or user"
          description="An account, or a user of one: 111122223333/bob"
          errorText={taken && `${name.trim()} already has limits: edit those.`}
        >
          <Input ref={field} value={name} onChange={({ detail }) => setName(detail.value)} autoComplete="off" />
        </FormField>
      )}
      {shown.map(({ kind, label }) => (
        <FormField
          key={kind}
          label={label}
          {...(!isLimit(texts[kind]) && { errorText: 'Enter a whole number, or leave the field empty for no limit.' })}
        >
          <Input
            value={texts[kind] ?? ''}
            onChange={({ detail }) => setTexts({ ...texts, [kind]: detail.value })}
            inputMode="numeric"
            placeholder="No limit"
            autoComplete="off"
          />
        </FormField>
      ))}
    </Dialog>
  )
}

/** isLimit reports whether a text is a whole number, or empty. */
const isLimit = (text: string | undefined) => /^\d*$/.test(text?.trim() ?? '') && Number(text ?? 0) <= 2 ** 50

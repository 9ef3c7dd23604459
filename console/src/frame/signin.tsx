import Alert from '@cloudscape-design/components/alert'
import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import Form from '@cloudscape-design/components/form'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Tabs from '@cloudscape-design/components/tabs'
import { type ReactNode, useState } from 'react'
import { wordsOf } from '../aws/failure'
import { consoleApi } from '../aws/place'
import { enter, type Proof, type SignIn, startAgain } from '../aws/session'
import { useStored } from './preferences'

/** firstWay is offered until a person chooses another: a new server has no users. */
const firstWay = 'keys'

/** SignInPage asks who is there, in the ways that the server offers. */
export function SignInPage({ state }: { state: Extract<SignIn, { status: 'out' }> }) {
  const { settings, reason } = state
  const [error, setError] = useState<unknown>(state.error)
  const [busy, setBusy] = useState(false)

  async function submit(proof: () => Proof | Promise<Proof>) {
    setBusy(true)
    setError(undefined)
    try {
      await enter(await proof())
    } catch (e) {
      setError(e)
      setBusy(false)
    }
  }

  const [lastWay, keepWay] = useStored('sign-in-way', firstWay)
  const [way, setWay] = useState(lastWay)

  const words = error ? wordsOf(error) : undefined
  const ways = settings?.signIn ?? []
  const tabs = [
    ways.includes('password') && {
      id: 'password',
      label: 'User name',
      content: <ByPassword account={settings?.account} busy={busy} submit={submit} />,
    },
    ways.includes('keys') && {
      id: 'keys',
      label: 'Access key',
      content: <ByKeys region={settings?.region ?? 'us-east-1'} busy={busy} submit={submit} />,
    },
    ways.includes('link') && { id: 'link', label: 'Link', content: <ByLink /> },
  ].filter((tab) => tab !== false)

  return (
    <main className="centre">
      <SpaceBetween size="l">
        {words ? (
          <Alert
            type="error"
            header={/^\w+$/.test(words.title) ? 'Sign-in failed' : words.title}
            action={!settings && <Button onClick={startAgain}>Try again</Button>}
          >
            {words.text}
          </Alert>
        ) : (
          reason && <Alert type="info">{reason}</Alert>
        )}
        {settings && (
          <Container header={<Header variant="h1">Sign in to Sluice</Header>}>
            <SpaceBetween size="l">
              {settings.oidc && (
                <Button variant="primary" fullWidth href={`${consoleApi}/oidc`}>
                  Sign in with {settings.oidc.name}
                </Button>
              )}
              <Tabs
                tabs={tabs}
                ariaLabel="Ways to sign in"
                activeTabId={(tabs.find((tab) => tab.id === way) ?? tabs[0])?.id ?? ''}
                onChange={({ detail }) => {
                  setWay(detail.activeTabId)
                  keepWay(detail.activeTabId)
                }}
              />
            </SpaceBetween>
          </Container>
        )}
      </SpaceBetween>
    </main>
  )
}

interface WayProps {
  busy: boolean
  submit: (proof: () => Proof | Promise<Proof>) => void
}

function WayForm({
  busy,
  disabled,
  onSubmit,
  children,
}: {
  busy: boolean
  disabled: boolean
  onSubmit: () => void
  children: ReactNode
}) {
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        if (!disabled) {
          onSubmit()
        }
      }}
    >
      <Form
        actions={
          <Button variant="primary" formAction="submit" loading={busy} disabled={disabled}>
            Sign in
          </Button>
        }
      >
        <SpaceBetween size="m">{children}</SpaceBetween>
      </Form>
    </form>
  )
}

function ByKeys({ region, busy, submit }: WayProps & { region: string }) {
  const [id, setId] = useState('')
  const [secret, setSecret] = useState('')
  const [token, setToken] = useState('')
  const temporary = id.startsWith('ASIA')
  return (
    <WayForm
      busy={busy}
      disabled={!id.trim() || !secret.trim() || (temporary && !token.trim())}
      onSubmit={() =>
        submit(async () => {
          const { proveKeys } = await import('../aws/keys')
          return proveKeys(id.trim(), secret.trim(), region, token.trim() || undefined)
        })
      }
    >
      <FormField label="Access key ID">
        <Input
          value={id}
          onChange={({ detail }) => setId(detail.value)}
          autoComplete="username"
          spellcheck={false}
          autoFocus
        />
      </FormField>
      <FormField
        label="Secret access key"
        description="The key does not leave this page: the page signs one call with it and then forgets it."
      >
        <Input
          value={secret}
          type="password"
          onChange={({ detail }) => setSecret(detail.value)}
          autoComplete="current-password"
        />
      </FormField>
      {temporary && (
        <FormField label="Session token">
          <Input value={token} onChange={({ detail }) => setToken(detail.value)} autoComplete="off" />
        </FormField>
      )}
    </WayForm>
  )
}

function ByPassword({ account, busy, submit }: WayProps & { account: string | undefined }) {
  const [where, setWhere] = useState(account ?? '')
  const [user, setUser] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  return (
    <WayForm
      busy={busy}
      disabled={!where.trim() || !user.trim() || !password}
      onSubmit={() =>
        submit(() => ({
          password: { account: where.trim(), user: user.trim(), password, ...(code.trim() && { code: code.trim() }) },
        }))
      }
    >
      <FormField label="Account">
        <Input
          value={where}
          onChange={({ detail }) => setWhere(detail.value)}
          inputMode="numeric"
          autoComplete="organization"
          autoFocus={!account}
        />
      </FormField>
      <FormField label="User name">
        <Input
          value={user}
          onChange={({ detail }) => setUser(detail.value)}
          autoComplete="username"
          spellcheck={false}
          autoFocus={Boolean(account)}
        />
      </FormField>
      <FormField label="Password">
        <Input
          value={password}
          type="password"
          onChange={({ detail }) => setPassword(detail.value)}
          autoComplete="current-password"
        />
      </FormField>
      <FormField
        label={
          <>
            Code <i>- if you have set up an authenticator</i>
          </>
        }
      >
        <Input
          value={code}
          onChange={({ detail }) => setCode(detail.value)}
          inputMode="numeric"
          autoComplete="one-time-code"
        />
      </FormField>
    </WayForm>
  )
}

function ByLink() {
  return (
    <SpaceBetween size="s">
      <Box variant="p">
        If you have keys of this server, this command prints a sign-in link. A new server prints one when it starts. A
        link works once, for ten minutes.
      </Box>
      <pre className="code">sluice console</pre>
    </SpaceBetween>
  )
}

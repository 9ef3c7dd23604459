import { I18nProvider } from '@cloudscape-design/components/i18n'
import messages from '@cloudscape-design/components/i18n/messages/all.en'
import Spinner from '@cloudscape-design/components/spinner'
import { applyDensity, applyMode, Density, Mode } from '@cloudscape-design/global-styles'
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { isAbsent, isDenied, isLate, statusOf } from '../aws/failure'
import { signIn } from '../aws/session'
import { useBeginning } from './arrival'
import { useIdleLock } from './idle'
import { later } from './later'
import { clearNotices } from './notices'
import { PageFrame } from './pageframe'
import { usePreferences } from './preferences'
import { answered, failed, onReturn, watchServer } from './reach'
import { Skip } from './skip'
import { TopBar } from './topbar'

// A person with a link or a session does not need it.
const SignInPage = later(async () => ({ default: (await import('./signin')).SignInPage }))

function newClient() {
  return new QueryClient({
    queryCache: new QueryCache({ onError: failed, onSuccess: answered }),
    defaultOptions: {
      queries: {
        // Without the internet the server may well be there.
        networkMode: 'always',
        refetchOnReconnect: true,
        // A call that a policy forbids, or about a thing that does not exist, fails the second time, too. One without an answer has
        // taken long enough.
        retry: (count, error) =>
          count < 2 &&
          !isDenied(error) &&
          !isAbsent(error) &&
          !isLate(error) &&
          (statusOf(error) === 0 || statusOf(error) >= 500),
        staleTime: 2000,
      },
    },
  })
}

/** App is the whole console. */
export function App() {
  useLooks()
  const state = useSyncExternalStore(signIn.subscribe, signIn.get)
  const who = state.status === 'in' ? state.session.arn : ''
  return (
    <I18nProvider locale="en" messages={[messages]}>
      <Person key={who}>
        {state.status === 'in' && <Skip />}
        {state.status !== 'starting' && <TopBar state={state} />}
        {state.status === 'starting' && (
          <div className="centre">
            <Spinner size="large" />
          </div>
        )}
        {state.status === 'out' && <SignInPage state={state} />}
        {state.status === 'in' && <Unlocked minutes={state.settings.idleMinutes ?? 0} />}
      </Person>
    </I18nProvider>
  )
}

/** Unlocked is all that is shown during a session, until it is idle for too long. */
function Unlocked({ minutes }: { minutes: number }) {
  useBeginning()
  useIdleLock(minutes)
  useEffect(watchServer, [])
  return <PageFrame />
}

/** Person keeps what the server has told one person, and forgets it when another signs in. */
function Person({ children }: { children: React.ReactNode }) {
  const [client] = useState(newClient)
  useEffect(() => clearNotices, [])
  useEffect(() => onReturn(() => void client.invalidateQueries()), [client])
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>
}

/** useLooks applies the chosen colors and density. */
function useLooks() {
  const { theme, density } = usePreferences()
  useEffect(() => {
    applyDensity(density === 'compact' ? Density.Compact : Density.Comfortable)
    const system = window.matchMedia('(prefers-color-scheme: dark)')
    const apply = () => {
      const dark = theme === 'dark' || (theme === 'system' && system.matches)
      applyMode(dark ? Mode.Dark : Mode.Light)
      document.documentElement.classList.toggle('dark', dark)
    }
    apply()
    system.addEventListener('change', apply)
    return () => system.removeEventListener('change', apply)
  }, [theme, density])
}

import TopNavigation, { type TopNavigationProps } from '@cloudscape-design/components/top-navigation'
import { leave, type SignIn } from '../aws/session'
import { home } from '../routes'
import { commandKey } from './keys'
import { showOverlay } from './overlay'
import { type Preferences, setPreferences, usePreferences } from './preferences'

const refreshWords: Record<string, string> = {
  '2': 'Every 2 seconds',
  '5': 'Every 5 seconds',
  '10': 'Every 10 seconds',
  '30': 'Every 30 seconds',
  '60': 'Every minute',
  '0': 'Off',
}

const themes: Record<Preferences['theme'], string> = { system: 'Like the system', light: 'Light', dark: 'Dark' }
const zones: Record<Preferences['zone'], string> = { local: 'Local time', utc: 'UTC' }
const densities: Record<Preferences['density'], string> = { comfortable: 'Comfortable', compact: 'Compact' }

/** TopBar is above every page: refreshing, appearance, the session. */
export function TopBar({ state }: { state: SignIn }) {
  const preferences = usePreferences()
  const utilities: TopNavigationProps.Utility[] = []
  if (state.status === 'in') {
    utilities.push({
      type: 'button',
      iconName: 'search',
      text: commandKey,
      ariaLabel: `Command palette: ${commandKey}`,
      title: 'Command palette',
      onClick: () => showOverlay('palette'),
    })
    utilities.push({
      type: 'menu-dropdown',
      iconName: 'refresh',
      text: preferences.refresh ? `${preferences.refresh} s` : 'Off',
      title: 'Refresh',
      ariaLabel: `Refresh: ${preferences.refresh ? `${preferences.refresh} s` : 'Off'}`,
      items: choices('refresh', refreshWords, String(preferences.refresh)),
      onItemClick: ({ detail }) => setPreferences({ refresh: Number(detail.id.split(':')[1]) }),
    })
  }
  utilities.push({
    type: 'menu-dropdown',
    iconName: 'settings',
    ariaLabel: 'Settings',
    title: 'Settings',
    items: [
      { id: 'themes', text: 'Colours', items: choices('theme', themes, preferences.theme) },
      { id: 'zones', text: 'Times', items: choices('zone', zones, preferences.zone) },
      { id: 'densities', text: 'Density', items: choices('density', densities, preferences.density) },
      ...(state.status === 'in' ? [{ id: 'keys', text: 'Keys', secondaryText: '?' }] : []),
    ],
    onItemClick: ({ detail }) => {
      if (detail.id === 'keys') {
        showOverlay('keys')
        return
      }
      const [name, value] = detail.id.split(':')
      setPreferences({ [String(name)]: value } as Partial<Preferences>)
    },
  })
  if (state.status === 'in') {
    const { session, settings } = state
    const name = session.user || session.arn.replace(/^.*[:/]/, '')
    utilities.push({
      type: 'menu-dropdown',
      iconName: 'user-profile',
      text: name,
      description: session.arn,
      items: [
        {
          id: 'about',
          text: `Account ${session.account}`,
          secondaryText: `Region ${settings.region}`,
          disabled: true,
        },
        { id: 'leave', text: 'Sign out' },
      ],
      onItemClick: ({ detail }) => {
        if (detail.id === 'leave') {
          void leave()
        }
      },
    })
  }
  return (
    <div id="top-bar">
      <TopNavigation
        identity={{ title: 'Sluice', href: `#${home}`, logo: { src: './icon.svg', alt: '' } }}
        // On a phone all of them stay, as icons: whether there is room is measured, and comes out now so, now so.
        utilities={utilities.map((u) => ({ ...u, disableUtilityCollapse: true }))}
      />
    </div>
  )
}

function choices(group: string, words: Record<string, string>, chosen: string) {
  return Object.entries(words).map(([value, text]) => ({
    id: `${group}:${value}`,
    text,
    itemType: 'checkbox' as const,
    checked: value === chosen,
  }))
}

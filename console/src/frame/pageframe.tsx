import AppLayout from '@cloudscape-design/components/app-layout'
import Box from '@cloudscape-design/components/box'
import BreadcrumbGroup from '@cloudscape-design/components/breadcrumb-group'
import Flashbar from '@cloudscape-design/components/flashbar'
import Link from '@cloudscape-design/components/link'
import SideNavigation from '@cloudscape-design/components/side-navigation'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { settingsNow } from '../aws/session'
import { home, sections } from '../routes'
import { useArrival } from './arrival'
import { Guard } from './guard'
import { enterPage, useNotices } from './notices'
import { Overlays } from './overlays'
import { find, trail } from './pages'
import { useQuiet } from './quiet'
import { fill, go, usePath } from './router'

/** PageFrame surrounds every page: the navigation, the breadcrumbs, the notices. */
export function PageFrame() {
  const path = usePath()
  const notices = useNotices()
  const [open, setOpen] = useState(() => window.innerWidth > 1000)
  const nowhere = path === '/' || path.startsWith('k=')
  useEffect(() => {
    if (nowhere) {
      go(home, { replace: true })
    }
  }, [nowhere])
  const found = find(path)
  const page = found ? fill(found.page.path, found.parameters) : path
  useArrival(nowhere ? undefined : page)
  useEffect(() => enterPage(page), [page])
  useReturn()
  const crumbs = found ? trail(found.page, found.parameters) : []
  useEffect(() => {
    document.title =
      crumbs.length > 0
        ? `${crumbs
            .map((c) => c.text)
            .reverse()
            .join(' · ')} · Sluice`
        : 'Sluice'
  })
  return (
    <>
      <Overlays />
      <AppLayout
        headerSelector="#top-bar"
        toolsHide
        {...(!found?.page.form && { maxContentWidth: Number.MAX_VALUE })}
        navigationOpen={open}
        onNavigationChange={({ detail }) => setOpen(detail.open)}
        navigationWidth={220}
        navigation={
          <SideNavigation
            activeHref={`#/${path.split('/')[1] ?? ''}`}
            items={sections.map((section) => ({
              type: 'section' as const,
              text: section.title,
              items: section.items.map((item) => ({ type: 'link' as const, text: item.text, href: `#${item.path}` })),
            }))}
            onFollow={() => window.innerWidth <= 688 && setOpen(false)}
            itemsControl={<Version />}
          />
        }
        breadcrumbs={crumbs.length > 1 ? <BreadcrumbGroup items={crumbs} /> : undefined}
        notifications={<Flashbar items={notices} stackItems />}
        content={
          <Guard key={page}>{found ? <found.page.component parameters={found.parameters} /> : <Nowhere />}</Guard>
        }
      />
    </>
  )
}

/** useReturn looks again at once when the user comes back to a page that has looked less often. */
function useReturn() {
  const client = useQueryClient()
  const quiet = useQuiet()
  const was = useRef(quiet)
  useEffect(() => {
    if (was.current && !quiet) {
      void client.invalidateQueries()
    }
    was.current = quiet
  }, [client, quiet])
}

function Version() {
  const settings = settingsNow()
  return (
    <Box variant="small" color="text-body-secondary">
      {[settings?.region, settings?.version].filter(Boolean).join(' · ')}
    </Box>
  )
}

function Nowhere() {
  return (
    <Box textAlign="center" padding="xxl">
      <Box variant="h1">There is no such page</Box>
      <Box variant="p">
        It may belong to another version. <Link href={`#${home}`}>Go to the first page</Link>
      </Box>
    </Box>
  )
}

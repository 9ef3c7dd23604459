import { part } from './frame/later'
import type { Page } from './frame/page'
import { prepareTab } from './pages/queue/tabs'

/** pages are all pages: one line each, beside those of its section. */
export const pages: Page[] = [
  { path: '/home', title: 'What needs attention', component: part(() => import('./pages/home')) },
  { path: '/map', title: 'Map', component: part(() => import('./pages/map')) },

  // Queues
  { path: '/queues', title: 'Queues', component: part(() => import('./pages/queues')) },
  {
    path: '/create-queue',
    form: true,
    title: 'Create queue',
    under: '/queues',
    component: part(() => import('./pages/createqueue')),
  },
  {
    path: '/queues/:queue/edit',
    form: true,
    title: 'Edit',
    under: '/queues/:queue/:tab?',
    component: part(() => import('./pages/createqueue')),
  },
  {
    path: '/queues/:queue/:tab?',
    title: ':queue',
    under: '/queues',
    component: part(() => import('./pages/queue')),
    prepare: prepareTab,
  },

  // Topics
  { path: '/topics', title: 'Topics', component: part(() => import('./pages/topics')) },
  { path: '/topics/:topic', title: ':topic', under: '/topics', component: part(() => import('./pages/topics/topic')) },
  {
    path: '/topics/:topic/publish',
    form: true,
    title: 'Publish message',
    under: '/topics/:topic',
    component: part(() => import('./pages/topics/publish')),
  },
  {
    path: '/create-topic',
    form: true,
    title: 'Create topic',
    under: '/topics',
    component: part(() => import('./pages/topics/create')),
  },
  { path: '/subscriptions', title: 'Subscriptions', component: part(() => import('./pages/subscriptions')) },
  {
    path: '/subscriptions/:topic/:subscription',
    title: 'Subscription',
    under: '/topics/:topic',
    component: part(() => import('./pages/subscriptions/subscription')),
  },
  {
    path: '/create-subscription',
    form: true,
    title: 'Create subscription',
    under: '/subscriptions',
    component: part(() => import('./pages/subscriptions/create')),
  },
  {
    path: '/subscribe-queue',
    form: true,
    title: 'Subscribe to a topic',
    under: '/queues',
    component: part(() => import('./pages/subscriptions/queues')),
  },

  // Monitoring
  { path: '/monitoring', title: 'Monitoring', component: part(() => import('./pages/monitoring')) },
  { path: '/alarms', title: 'Alarms', component: part(() => import('./pages/alarms')) },
  { path: '/alarms/:alarm', title: ':alarm', under: '/alarms', component: part(() => import('./pages/alarms/alarm')) },
  {
    path: '/alarms/:alarm/edit',
    form: true,
    title: 'Edit',
    under: '/alarms/:alarm',
    component: part(() => import('./pages/alarms/edit')),
  },
  {
    path: '/create-alarm',
    form: true,
    title: 'Create alarm',
    under: '/alarms',
    component: part(() => import('./pages/alarms/edit')),
  },
  {
    path: '/create-composite-alarm',
    form: true,
    title: 'Create composite alarm',
    under: '/alarms',
    component: part(() => import('./pages/alarms/createcomposite')),
  },
  { path: '/activity', title: 'Activity', component: part(() => import('./pages/activity')) },
  { path: '/cluster', title: 'Cluster', component: part(() => import('./pages/cluster')) },

  // Users
  { path: '/users', title: 'Users', component: part(() => import('./pages/users')) },
  { path: '/users/:user', title: ':user', under: '/users', component: part(() => import('./pages/users/user')) },
  { path: '/groups', title: 'Groups', component: part(() => import('./pages/users/groups')) },
  { path: '/groups/:group', title: ':group', under: '/groups', component: part(() => import('./pages/users/group')) },
  { path: '/roles', title: 'Roles', component: part(() => import('./pages/users/roles')) },
  { path: '/roles/:role', title: ':role', under: '/roles', component: part(() => import('./pages/users/role')) },
  { path: '/policies', title: 'Policies', component: part(() => import('./pages/users/policies')) },
  {
    path: '/policies/:policy',
    title: ':policy',
    under: '/policies',
    component: part(() => import('./pages/users/policy')),
  },
  { path: '/limits', title: 'Limits', component: part(() => import('./pages/limits')) },
  { path: '/sessions', title: 'Sessions', component: part(() => import('./pages/users/sessions')) },
]

/** home is the console's first page. */
export const home = '/home'

/** sections are the entries of the side navigation. */
export const sections: { title: string; items: { text: string; path: string }[] }[] = [
  {
    title: 'Messages',
    items: [
      { text: 'Home', path: home },
      { text: 'Map', path: '/map' },
      { text: 'Queues', path: '/queues' },
      { text: 'Topics', path: '/topics' },
      { text: 'Subscriptions', path: '/subscriptions' },
    ],
  },
  {
    title: 'Operations',
    items: [
      { text: 'Monitoring', path: '/monitoring' },
      { text: 'Alarms', path: '/alarms' },
      { text: 'Activity', path: '/activity' },
      { text: 'Cluster', path: '/cluster' },
    ],
  },
  {
    title: 'Users and keys',
    items: [
      { text: 'Users', path: '/users' },
      { text: 'Groups', path: '/groups' },
      { text: 'Roles', path: '/roles' },
      { text: 'Policies', path: '/policies' },
      { text: 'Limits', path: '/limits' },
      { text: 'Sessions', path: '/sessions' },
    ],
  },
]

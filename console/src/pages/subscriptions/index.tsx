import { SubscriptionTable } from './table'

/** Subscriptions lists all subscriptions of the account. */
export default function Subscriptions() {
  return <SubscriptionTable full />
}

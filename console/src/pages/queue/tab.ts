/** TabProps are the properties of every tab of a queue. */
export interface TabProps {
  queue: string
  fifo: boolean
}

/** TabProps are what every tab of a queue is given. */
export interface TabProps {
  queue: string
  fifo: boolean
}

import Alert from '@cloudscape-design/components/alert'
import Button from '@cloudscape-design/components/button'
import { Component, type ReactNode } from 'react'
import { waitForServer } from './reach'

/** Guard confines an error to its page. */
export class Guard extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {}

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  /** A page that could not be loaded is loaded when the server answers again. If it answers now, it has another version. */
  override componentDidCatch(error: Error) {
    if (isUnloaded(error)) {
      void waitForServer().then((again) => again && this.state.error === error && location.reload())
    }
  }

  override render() {
    const { error } = this.state
    if (!error) {
      return this.props.children
    }
    const gone = isUnloaded(error)
    return (
      <Alert
        type="error"
        header={gone ? 'This page could not be loaded' : 'This page has failed'}
        action={<Button onClick={() => location.reload()}>Load again</Button>}
      >
        {gone ? 'The server does not answer, or has been updated since you opened the console.' : error.message}
      </Alert>
    )
  }
}

const isUnloaded = (error: Error) =>
  /dynamically imported module|Importing a module|Unable to preload/.test(error.message)

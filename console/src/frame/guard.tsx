import Alert from '@cloudscape-design/components/alert'
import Button from '@cloudscape-design/components/button'
import { Component, type ReactNode } from 'react'

/** Guard keeps an error in one page from taking the others with it. */
export class Guard extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {}

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (!error) {
      return this.props.children
    }
    const gone = /dynamically imported module|Importing a module|Unable to preload/.test(error.message)
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

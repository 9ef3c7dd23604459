import '@cloudscape-design/global-styles/index.css'
import './frame/frame.css'
import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './frame/app'
import { prepare } from './frame/pages'
import { watchInput } from './frame/quiet'

/** draw shows the console. */
export function draw() {
  const root = document.getElementById('root')
  if (root) {
    watchInput()
    prepare() // it loads while the server is asked for the session
    // Requests go on while it is drawn, which takes some tenths of a second.
    startTransition(() =>
      createRoot(root).render(
        <StrictMode>
          <App />
        </StrictMode>,
      ),
    )
  }
}

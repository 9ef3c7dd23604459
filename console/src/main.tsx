import '@cloudscape-design/global-styles/index.css'
import './frame/frame.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { start } from './aws/session'
import { App } from './frame/app'
import { prepare } from './frame/pages'
import { watchInput } from './frame/quiet'

const root = document.getElementById('root')
if (root) {
  watchInput()
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
  prepare() // it loads while the server is asked for the session
  void start()
}

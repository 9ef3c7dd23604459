import '@cloudscape-design/global-styles/index.css'
import './frame/frame.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { start } from './aws/session'
import { App } from './frame/app'
import { prepare } from './frame/pages'

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
  prepare() // it comes while the server is asked who is signed in
  void start()
}

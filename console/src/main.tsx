import '@cloudscape-design/global-styles/index.css'
import './frame/frame.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { start } from './aws/session'
import { App } from './frame/app'

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
  void start()
}

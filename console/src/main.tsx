import '@cloudscape-design/global-styles/index.css'
import Box from '@cloudscape-design/components/box'
import { createRoot } from 'react-dom/client'

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(<Box padding="xxl">Sluice</Box>)
}
